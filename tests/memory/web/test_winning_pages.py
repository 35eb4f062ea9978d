"""Pages of sequences and weak spots: who may, what they cost, what they say."""

import pytest

from memory.models import Path
from tests.builders import make_pattern, make_task
from tests.conftest import Cast, page_client
from tests.corrections.builders import make_rule
from tests.memory.winning_scenes import make_kind, make_sequence, make_spot
from tests.pages import HOSTILE, extra_queries, page_faults

pytestmark = pytest.mark.django_db

PAGES = [
    pytest.param("insights/sequences/", "viewer", id="sequences"),
    pytest.param("insights/sequences/?show=all&kind=tag:trip&least=3", "viewer", id="filtered sequences"),
    pytest.param("insights/sequences/{sequence.uuid}/template/", "reviewer", id="template"),
    pytest.param("insights/weak-spots/", "viewer", id="weak spots"),
    pytest.param("insights/weak-spots/?tools=any&tool=a", "viewer", id="filtered spots"),
    pytest.param("insights/weak-spots/{spot.uuid}/", "viewer", id="weak spot"),
]


def build_scene(cast: Cast, count: int) -> dict[str, object]:
    """So many of each, named as a bad agent would."""
    made: dict[str, object] = {}
    kind = make_kind(cast.workspace, "tag:trip")
    for number in range(count):
        task = make_task(cast.workspace, goal=HOSTILE, outcome="success")
        made["sequence"] = make_sequence(cast.workspace, f"{HOSTILE}{task.pk}", "book", held_by=(task,))
        make_sequence(cast.workspace, f"find-{task.pk}", "book", kind=kind, held_by=(task,))
        patterns = [
            make_pattern(cast.workspace, f"{HOSTILE}{tool}{task.pk}", tool=f"{tool}{HOSTILE}")
            for tool in ("a", "b")
        ]
        made["spot"] = make_spot(cast.workspace, *patterns, title=HOSTILE, words=[HOSTILE])
        make_rule(cast.workspace).patterns.add(patterns[number % 2])
    return made


@pytest.mark.parametrize(("url", "role"), PAGES)
def test_page__least_role__opens_and_shows_agents_text_as_text(cast: Cast, url: str, role: str) -> None:
    path = f"/w/acme/{url.format(**build_scene(cast, 2))}"

    assert page_faults(page_client(getattr(cast, role)).get(path)) == []


@pytest.mark.parametrize(("url", "role"), PAGES)
def test_page__more_rows__costs_no_more_queries(cast: Cast, url: str, role: str) -> None:
    client = page_client(getattr(cast, role))
    few = f"/w/acme/{url.format(**build_scene(cast, 2))}"

    assert extra_queries(client, few, lambda: f"/w/acme/{url.format(**build_scene(cast, 25))}") == []


@pytest.mark.parametrize("page", ["sequences", "weak-spots"])
def test_page__nothing_counted_yet__says_what_it_is_made_of(cast: Cast, page: str) -> None:
    text = page_client(cast.viewer).get(f"/w/acme/insights/{page}/").text

    assert ("No task has ended yet" in text) or ("The worker has not looked yet" in text)


@pytest.mark.parametrize("text", ["\x00", "a" * 5000, "%", "'\"", "-1", "9" * 30, "1~2"])
def test_page__nonsense_filters__are_no_error(cast: Cast, text: str) -> None:
    build_scene(cast, 1)
    client = page_client(cast.viewer)
    names = ("show", "kind", "least", "cursor", "status", "tools", "tool")

    for page in ("sequences", "weak-spots"):
        for name in names:
            assert client.get(f"/w/acme/insights/{page}/", {name: text}).status_code == 200


def test_sequences__each_choice__shows_its_own(cast: Cast) -> None:
    make_sequence(cast.workspace, "good", "way")
    make_sequence(cast.workspace, "bad", "way", verdict="losing", lift=0.3)
    make_sequence(cast.workspace, "part", "way", is_closed=False)
    make_sequence(cast.workspace, "odd", "way", verdict="rare", lift=None, tasks=2, won=2, lost=0)
    client = page_client(cast.viewer)

    shown = {
        show: [
            one.row.tools[0]
            for one in client.get(f"/w/acme/insights/sequences/?show={show}").context["shown"]
        ]
        for show in ("winning", "losing", "all")
    }

    assert shown == {"winning": ["good"], "losing": ["bad"], "all": ["bad", "good", "odd"]}
    assert "not enough data" in client.get("/w/acme/insights/sequences/?show=all").text


def test_sequences__all_tasks_succeeded__says_that_there_is_nothing_to_compare(cast: Cast) -> None:
    make_kind(cast.workspace, won=10, lost=0)

    assert "Not enough data" in page_client(cast.viewer).get("/w/acme/insights/sequences/").text


def test_template__confirmed__leads_to_the_path_and_is_not_made_twice(cast: Cast) -> None:
    row = make_sequence(cast.workspace, "find", "book")
    url, client = f"/w/acme/insights/sequences/{row.uuid}/template/", page_client(cast.reviewer)
    assert "Make the template" in client.get(url).text

    for goal in ("Book a seat", "Book another"):
        answer = client.post(url, {"goal": goal, "tags": "trip, seat"}, follow=True)

    path = Path.objects.get(goal="Book a seat")
    assert path.tags == ["trip", "seat"]
    assert answer.redirect_chain[-1][0] == f"/w/acme/paths/{path.uuid}/"
    assert "This sequence is a template path already." in answer.text
    assert "Make the template" not in client.get(url).text
    assert "Its template" in client.get("/w/acme/insights/sequences/").text


def test_template__without_a_goal__says_so_and_makes_nothing(cast: Cast) -> None:
    row, before = make_sequence(cast.workspace), Path.objects.count()

    answer = page_client(cast.reviewer).post(f"/w/acme/insights/sequences/{row.uuid}/template/", {"goal": ""})

    assert answer.status_code == 200
    assert answer.context["form"].errors["goal"]
    assert Path.objects.count() == before


def test_template__viewer__may_not(cast: Cast) -> None:
    row = make_sequence(cast.workspace)

    assert page_client(cast.viewer).get(f"/w/acme/insights/sequences/{row.uuid}/template/").status_code == 403


def test_weak_spots__one_tool_and_resolved__only_when_asked_for(cast: Cast) -> None:
    make_spot(cast.workspace, title="across")
    one = [make_pattern(cast.workspace, str(number), tool="a") for number in range(3)]
    make_spot(cast.workspace, *one, title="within")
    make_spot(cast.workspace, title="quiet", status="resolved", why_resolved="quiet")
    client = page_client(cast.viewer)

    def titles(query: str) -> list[str]:
        rows = client.get(f"/w/acme/insights/weak-spots/{query}").context["page"].rows
        return sorted(row.title for row in rows)

    assert titles("") == ["across"]
    assert titles("?tools=any") == ["across", "within"]
    assert titles("?tools=any&tool=a") == ["within"]
    assert titles("?status=resolved") == ["quiet"]


def test_weak_spot__patterns_with_and_without_rules__leads_to_both(cast: Cast) -> None:
    covered, bare = (make_pattern(cast.workspace, tool, tool=tool) for tool in ("a", "b"))
    rule = make_rule(cast.workspace)
    rule.patterns.add(covered)
    spot = make_spot(cast.workspace, covered, bare)

    text = page_client(cast.reviewer).get(f"/w/acme/insights/weak-spots/{spot.uuid}/").text

    assert f"/w/acme/rules/{rule.uuid}/" in text
    assert f"/w/acme/rules/new/?pattern={bare.uuid}" in text
    assert f"/w/acme/rules/new/?pattern={covered.uuid}" not in text
