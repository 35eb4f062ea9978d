"""The pages of paths: who may open them, what they cost, that agents' text stays text, and what they do."""

import json
from collections.abc import Callable

import pytest

from memory.models import AuditEvent, Path, RewriteProposal
from tests.builders import make_path
from tests.conftest import Cast, page_client
from tests.memory.web.path_scenes import HOSTILE, PathScene, build_path_scene
from tests.pages import extra_queries, page_faults

PAGES = [
    pytest.param("paths/", "viewer", id="paths"),
    pytest.param(
        "paths/?text=img&status=active&tag=a&tool=b&agent=c&since=2026-01-01", "viewer", id="filtered"
    ),
    pytest.param("paths/{path.uuid}/", "viewer", id="path"),
    pytest.param("paths/{old.uuid}/", "viewer", id="old-version"),
    pytest.param("paths/{part.uuid}/", "viewer", id="part"),
    pytest.param("paths/{path.uuid}/compare/", "viewer", id="compare"),
    pytest.param("paths/{path.uuid}/compare/?with={old.uuid}", "viewer", id="compare-with"),
    pytest.param("paths/new/", "reviewer", id="new"),
    pytest.param("paths/import/", "reviewer", id="import"),
    pytest.param("paths/{path.uuid}/correct/", "reviewer", id="correct"),
]
BELOW = {"reviewer": "viewer"}


def address(url: str, scene: PathScene) -> str:
    """The page's path in the cast's workspace."""
    return "/w/acme/" + url.format(**vars(scene))


@pytest.mark.parametrize(("url", "role"), PAGES)
def test_page__least_role__opens_and_shows_agents_text_as_text(cast: Cast, url: str, role: str) -> None:
    path = address(url, build_path_scene(cast.workspace, 2))

    assert page_faults(page_client(getattr(cast, role)).get(path)) == []


@pytest.mark.parametrize(("url", "role"), PAGES)
def test_page__others__get_nothing(cast: Cast, url: str, role: str) -> None:
    path = address(url, build_path_scene(cast.workspace))

    assert page_client(cast.outsider).get(path).status_code == 404
    if role in BELOW:
        refusal = page_client(getattr(cast, BELOW[role])).get(path)
        assert refusal.status_code == 403
        assert f"at least {role}" in refusal.text


@pytest.mark.parametrize(("url", "role"), PAGES)
def test_page__more_rows__costs_no_more_queries(cast: Cast, url: str, role: str) -> None:
    client = page_client(getattr(cast, role))
    few = address(url, build_path_scene(cast.workspace, 2))

    assert extra_queries(client, few, lambda: address(url, build_path_scene(cast.workspace, 9))) == []


@pytest.mark.parametrize("with_", ["", "nonsense", "00000000-0000-0000-0000-000000000000"])
def test_compare__unknown_other__compares_with_the_parent(cast: Cast, with_: str) -> None:
    scene = build_path_scene(cast.workspace)

    text = page_client(cast.viewer).get(f"/w/acme/paths/{scene.path.uuid}/compare/", {"with": with_}).text

    assert "From version 1 to version 2." in text


def test_compare__path_of_another_workspace__is_not_shown(cast: Cast) -> None:
    mine, theirs = build_path_scene(cast.workspace), make_path(cast.elsewhere, "their secret")

    answer = page_client(cast.viewer).get(
        f"/w/acme/paths/{mine.path.uuid}/compare/", {"with": str(theirs.uuid)}
    )

    assert "their secret" not in answer.text


def test_compare__path_of_another_lineage__is_named_by_key(cast: Cast) -> None:
    one, other = make_path(cast.workspace, key="path:one"), make_path(cast.workspace, key="path:other")

    answer = page_client(cast.viewer).get(f"/w/acme/paths/{one.uuid}/compare/", {"with": str(other.uuid)})

    assert "Two different paths." in answer.text
    assert (answer.context["compared"].old.title, answer.context["compared"].new.title) == (
        one.key,
        other.key,
    )


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        pytest.param({"text": "refund"}, {"refund"}, id="text"),
        pytest.param({"tool": "pay"}, {"refund"}, id="tool"),
        pytest.param({"tag": "flight"}, {"flight"}, id="tag"),
        pytest.param({"agent": "o1"}, {"refund"}, id="agent"),
        pytest.param({"result": "failure"}, {"refund"}, id="result"),
        pytest.param({"level": "task"}, {"refund", "flight"}, id="level"),
        pytest.param({"origin": "hand"}, set(), id="origin"),
        pytest.param({"status": "nonsense", "since": "1-1-1"}, {"refund", "flight"}, id="nonsense"),
        pytest.param({"since": "2999-01-01"}, set(), id="time"),
    ],
)
def test_paths__filter__shows_what_matches(cast: Cast, query: dict[str, str], shown: set[str]) -> None:
    make_path(cast.workspace, "flight", tags=("flight",))
    make_path(cast.workspace, "refund", ["pay"], tags=("money",), agent="o1", result="failure")

    text = page_client(cast.viewer).get("/w/acme/paths/", {"text": "", **query}).text

    assert {goal for goal in ("flight", "refund") if f">{goal}</a>" in text} == shown


def test_paths__nothing_there__says_how_paths_come(cast: Cast) -> None:
    Path.objects.all().delete()

    text = page_client(cast.owner).get("/w/acme/paths/").text

    assert "No path yet" in text
    assert 'href="/w/acme/paths/new/"' in text


def test_path__long__shows_a_stretch_of_its_steps(cast: Cast) -> None:
    path = make_path(cast.workspace, "long", [f"tool{number}" for number in range(450)])
    client = page_client(cast.viewer)

    first = client.get(f"/w/acme/paths/{path.uuid}/").text
    last = client.get(f"/w/acme/paths/{path.uuid}/", {"from": "401"}).text

    assert ("Steps 1 to 200 of 450" in first, "Steps 401 to 450 of 450" in last) == (True, True)
    assert 'data-shows="path:n449"' not in first
    assert 'data-shows="path:n449"' in last


@pytest.mark.parametrize(
    ("wanted", "type_", "read"),
    [
        pytest.param("json", "application/json", lambda text: len(json.loads(text)["nodes"]), id="json"),
        pytest.param("graphml", "application/graphml+xml", lambda text: text.count("<node "), id="graphml"),
        pytest.param("dot", "text/vnd.graphviz", lambda text: text.count("shape="), id="dot"),
    ],
)
def test_export__format__holds_every_node(
    cast: Cast, wanted: str, type_: str, read: Callable[[str], int]
) -> None:
    scene = build_path_scene(cast.workspace)

    answer = page_client(cast.viewer).get(f"/w/acme/paths/{scene.path.uuid}/export/", {"format": wanted})

    assert answer.headers["Content-Type"].startswith(type_)
    assert answer.headers["Content-Disposition"] == f'attachment; filename="path-{scene.path.uuid}.{wanted}"'
    assert read(answer.text) == 5


def test_export__unknown_format__is_not_found(cast: Cast) -> None:
    path = make_path(cast.workspace)

    assert page_client(cast.viewer).get(f"/w/acme/paths/{path.uuid}/export/?format=exe").status_code == 404


@pytest.mark.parametrize("tokens", ["60", "", "-1", "abc", "99999999999"])
def test_prompt__any_budget__is_answered(cast: Cast, tokens: str) -> None:
    scene = build_path_scene(cast.workspace)

    answer = page_client(cast.viewer).get(f"/w/acme/paths/{scene.path.uuid}/", {"tokens": tokens})

    assert answer.status_code == 200
    assert 'id="prompt-text"' in answer.text


@pytest.mark.parametrize(
    ("step", "role", "version", "statuses"),
    [
        pytest.param("roll-back", "maintainer", "old", ("active", "historical"), id="roll-back"),
        pytest.param("retire", "maintainer", "path", ("historical", "retired"), id="retire"),
    ],
)
def test_step__confirmed__changes_the_versions(
    cast: Cast, step: str, role: str, version: str, statuses: tuple[str, str]
) -> None:
    scene = build_path_scene(cast.workspace)
    url = f"/w/acme/paths/{getattr(scene, version).uuid}/{step}/"

    refused = page_client(cast.reviewer).post(url, {"reason": "it is wrong"})
    page_client(getattr(cast, role)).post(url, {"reason": "it is wrong"})

    assert refused.status_code == 403
    versions = Path.objects.filter(lineage=scene.path.lineage).order_by("version")
    assert tuple(row.status for row in versions) == statuses
    assert AuditEvent.objects.filter(reason="it is wrong").count() == 1


def test_rewrite__asked_for__waits_in_the_queue(cast: Cast) -> None:
    scene = build_path_scene(cast.workspace)
    before = RewriteProposal.objects.count()

    page_client(cast.reviewer).post(f"/w/acme/paths/{scene.path.uuid}/rewrite/", {"reason": "asks too late"})

    assert RewriteProposal.objects.count() == before + 1
    assert RewriteProposal.objects.first().request["reason"] == "asks too late"


@pytest.mark.parametrize("step", ["rewrite", "retire"])
def test_step__without_a_reason__is_refused(cast: Cast, step: str) -> None:
    scene = build_path_scene(cast.workspace)
    client = page_client(cast.owner)

    answer = client.post(f"/w/acme/paths/{scene.path.uuid}/{step}/", {"reason": " "}, follow=True)

    assert "Say why" in answer.text
    scene.path.refresh_from_db()
    assert scene.path.status == "active"


def test_buttons__viewer__says_who_may(cast: Cast) -> None:
    scene = build_path_scene(cast.workspace)

    text = page_client(cast.viewer).get(f"/w/acme/paths/{scene.path.uuid}/").text

    assert "You need to be at least maintainer to roll back or retire a path." in text


def test_hostile_path__in_the_data_of_the_drawing__cannot_end_the_script(cast: Cast) -> None:
    scene = build_path_scene(cast.workspace)

    text = page_client(cast.viewer).get(f"/w/acme/paths/{scene.path.uuid}/").text

    data = text.split('id="graph-path-data" type="application/json">')[1].split("</script>")[0]
    assert len(json.loads(data)["nodes"]) == 5
    assert "\\u003Cimg src=x" in data
    assert HOSTILE not in text


def test_search__word_of_a_goal__finds_the_active_version(cast: Cast) -> None:
    scene = build_path_scene(cast.workspace)

    text = page_client(cast.viewer).get("/w/acme/search/", {"q": "onerror"}).text

    assert f"/w/acme/paths/{scene.path.uuid}/" in text
    assert f"/w/acme/paths/{scene.old.uuid}/" not in text


def test_task__with_paths__leads_to_them(cast: Cast) -> None:
    scene = build_path_scene(cast.workspace)

    text = page_client(cast.viewer).get(f"/w/acme/tasks/{scene.task.uuid}/").text

    assert f"/w/acme/paths/{scene.old.uuid}/" in text
