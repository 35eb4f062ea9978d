"""The rule pages: who may open them, what they cost, and that what agents wrote stays text."""

import pytest

from corrections.actions.rules import disable_rule, edit_rule, retire_rule
from corrections.models import Rule
from memory.permissions import SYSTEM
from tests.conftest import Cast, page_client
from tests.corrections.builders import allow_self_approval, make_rule, weather_document
from tests.corrections.web.scenes import RuleScene, build_rule_scene
from tests.pages import extra_queries, page_faults

PAGES = [
    pytest.param("rules/", "viewer", id="rules"),
    pytest.param(
        "rules/?q=script&status=active&tool=weather_api&action_type=TOOL_SWITCH", "viewer", id="filtered"
    ),
    pytest.param("rules/{rule.uuid}/", "viewer", id="rule"),
    pytest.param("rules/{rule.uuid}/versions/2/", "viewer", id="version"),
    pytest.param("rules/{rule.uuid}/diff/?from=1&to=2", "viewer", id="diff"),
    pytest.param("simulator/", "viewer", id="simulator"),
    pytest.param("simulator/?task={task.uuid}&seq=0&rule={draft.uuid}", "viewer", id="simulated"),
    pytest.param("simulator/?task={task.uuid}&seq=0&point=after", "viewer", id="simulated-after"),
    pytest.param("rules/new/", "reviewer", id="new"),
    pytest.param("rules/new/?as=json", "reviewer", id="new-json"),
    pytest.param("rules/new/?pattern={pattern.uuid}", "reviewer", id="new-from-pattern"),
    pytest.param("rules/new/?copy={rule.uuid}", "reviewer", id="new-copy"),
    pytest.param("rules/{rule.uuid}/edit/", "reviewer", id="edit"),
]
STEPS = [
    pytest.param("activate", "reviewer", id="activate"),
    pytest.param("disable", "reviewer", id="disable"),
    pytest.param("retire", "reviewer", id="retire"),
    pytest.param("delete", "reviewer", id="delete"),
    pytest.param("roll-back", "reviewer", id="roll-back"),
]
BELOW = {"reviewer": "viewer", "maintainer": "reviewer"}


def address(url: str, scene: RuleScene) -> str:
    """The page's path in the cast's workspace."""
    return "/w/acme/" + url.format(**vars(scene))


@pytest.mark.parametrize(("url", "role"), PAGES)
def test_page__least_role__opens_and_shows_agents_text_as_text(cast: Cast, url: str, role: str) -> None:
    path = address(url, build_rule_scene(cast.workspace, 2))

    assert page_faults(page_client(getattr(cast, role)).get(path)) == []


@pytest.mark.parametrize(("url", "role"), PAGES)
def test_page__others__get_nothing(cast: Cast, url: str, role: str) -> None:
    path = address(url, build_rule_scene(cast.workspace, 2))

    assert page_client(cast.outsider).get(path).status_code == 404
    anonymous = page_client(cast.outsider)
    anonymous.logout()
    assert anonymous.get(path).url.startswith("/login/?next=/w/acme/")
    if role in BELOW:
        assert page_client(getattr(cast, BELOW[role])).get(path).status_code == 403


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("rules/{rule.uuid}/", id="rule"),
        pytest.param("rules/{rule.uuid}/edit/", id="edit"),
        pytest.param("rules/{rule.uuid}/versions/1/", id="version"),
        pytest.param("rules/{rule.uuid}/diff/?from=1&to=2", id="diff"),
        pytest.param("rules/new/?pattern={pattern.uuid}", id="pattern"),
        pytest.param("rules/new/?copy={rule.uuid}", id="copy"),
    ],
)
def test_page__row_of_another_workspace__is_not_found(cast: Cast, url: str) -> None:
    path = address(url, build_rule_scene(cast.elsewhere, 2))

    assert page_client(cast.owner).get(path).status_code == 404


def test_simulator__call_and_rule_of_another_workspace__are_not_there(cast: Cast) -> None:
    scene = build_rule_scene(cast.elsewhere, 1)
    client = page_client(cast.owner)

    call = client.get(f"/w/acme/simulator/?task={scene.task.uuid}&seq=0").text
    rule = client.get(f"/w/acme/simulator/?rule={scene.rule.uuid}").text

    assert "There is no such recorded call." in call
    assert "There is no such rule." in rule
    assert scene.task.external_id[:20] not in call + rule


@pytest.mark.parametrize(("url", "role"), PAGES)
def test_page__more_rows__costs_no_more_queries(cast: Cast, url: str, role: str) -> None:
    client = page_client(getattr(cast, role))
    few = address(url, build_rule_scene(cast.workspace, 2))

    def more() -> str:
        return address(url, build_rule_scene(cast.workspace, 9))

    assert extra_queries(client, few, more, settles=True) == []  # the live ruleset is read again


@pytest.mark.parametrize(("step", "role"), STEPS)
def test_step__too_low_a_role_or_outsider__is_refused_and_changes_nothing(
    cast: Cast, step: str, role: str
) -> None:
    rule = make_rule(cast.workspace)
    path = f"/w/acme/rules/{rule.uuid}/{step}/"

    assert page_client(getattr(cast, BELOW[role])).post(path).status_code == 403
    assert page_client(cast.outsider).post(path).status_code == 404
    assert page_client(getattr(cast, role)).get(path).status_code == 405
    rule.refresh_from_db()
    assert (rule.status, rule.latest_version.number) == ("active", 1)


@pytest.mark.parametrize(("step", "role"), STEPS)
def test_step__rule_of_another_workspace__is_not_found(cast: Cast, step: str, role: str) -> None:
    rule = make_rule(cast.elsewhere)

    assert page_client(cast.owner).post(f"/w/acme/rules/{rule.uuid}/{step}/").status_code == 404


def test_steps__disable_activate_retire__happen_and_are_said(cast: Cast) -> None:
    allow_self_approval(cast.workspace)
    rule = make_rule(cast.workspace)
    client = page_client(cast.maintainer)
    said = {}
    for step in ("disable", "activate", "retire"):
        answer = client.post(f"/w/acme/rules/{rule.uuid}/{step}/", {"reason": "because"}, follow=True)
        rule.refresh_from_db()
        said[rule.status] = answer.text

    assert list(said) == ["disabled", "active", "retired"]
    assert "agents are no longer served it" in said["disabled"]
    assert "agents are served it from now on" in said["active"]
    assert "Its history stays" in said["retired"]


def test_steps__not_possible__says_the_very_sentence_of_the_check(cast: Cast) -> None:
    rule = retire_rule(rule=make_rule(cast.workspace), by=SYSTEM)

    answer = page_client(cast.maintainer).post(f"/w/acme/rules/{rule.uuid}/activate/", follow=True)

    sentence = "A rule that is retired cannot be activated"
    assert answer.text.count(sentence) >= 2  # the message, and the tooltip of the button
    assert 'disabled title="A rule that is retired cannot be edited' in answer.text


def test_buttons__viewer__are_disabled_with_the_reason(cast: Cast) -> None:
    rule = make_rule(cast.workspace)

    text = page_client(cast.viewer).get(f"/w/acme/rules/{rule.uuid}/").text

    assert 'disabled title="You need to be at least reviewer to write rules."' in text


def test_roll_back__old_version__becomes_the_next_one(cast: Cast) -> None:
    rule = make_rule(cast.workspace, active=False)
    edit_rule(rule=rule, document=weather_document(priority=9), base_version=1, by=SYSTEM)
    form = {"to_version": 1, "base_version": 2, "note": "9 was too high"}

    answer = page_client(cast.reviewer).post(f"/w/acme/rules/{rule.uuid}/roll-back/", form, follow=True)

    rule.refresh_from_db()
    assert (rule.latest_version.number, rule.latest_version.priority) == (3, 0)
    assert "9 was too high" in answer.text


@pytest.mark.parametrize(
    "form",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"to_version": 99, "base_version": 2}, id="unknown-version"),
        pytest.param({"to_version": "x", "base_version": 2}, id="no-number"),
        pytest.param({"to_version": 1, "base_version": 1}, id="stale"),
        pytest.param({"to_version": 9**30, "base_version": 9**30}, id="huge"),
    ],
)
def test_roll_back__bad_form__says_so_and_writes_nothing(cast: Cast, form: dict[str, object]) -> None:
    rule = make_rule(cast.workspace, active=False)
    edit_rule(rule=rule, document=weather_document(priority=9), base_version=1, by=SYSTEM)

    answer = page_client(cast.reviewer).post(f"/w/acme/rules/{rule.uuid}/roll-back/", form, follow=True)

    assert "note-error" in answer.text
    assert rule.versions.count() == 2


def test_list__filters__narrow_it(cast: Cast) -> None:
    make_rule(cast.workspace, name="Alpha")
    make_rule(
        cast.workspace,
        active=False,
        name="Beta",
        applies_to={"tool": "book"},
        condition="input.x == 'needle'",
    )
    client = page_client(cast.viewer)
    shown = {
        query: [name for name in ("Alpha", "Beta") if name in client.get(f"/w/acme/rules/?{query}").text]
        for query in (
            "",
            "status=active",
            "status=draft",
            "tool=book",
            "q=needle",
            "q=alpha",
            "action_type=INSERT_STEP",
        )
    }

    assert shown == {
        "": ["Alpha", "Beta"], "status=active": ["Alpha"], "status=draft": ["Beta"], "tool=book": ["Beta"],
        "q=needle": ["Beta"], "q=alpha": ["Alpha"], "action_type=INSERT_STEP": [],
    }  # fmt: skip


@pytest.mark.parametrize("text", ["\x00", "a" * 5000, "%", "\\", "'\"", "\ud7ff😀", "-1", "9" * 40])
def test_list__nonsense__is_no_error(cast: Cast, text: str) -> None:
    rule = make_rule(cast.workspace)
    client = page_client(cast.viewer)
    fields = dict.fromkeys(("q", "status", "tool", "action_type", "cursor"), text)

    assert client.get("/w/acme/rules/", fields).status_code == 200
    assert client.get(f"/w/acme/rules/{rule.uuid}/", {"cursor": text}).status_code == 200
    assert client.get(f"/w/acme/rules/{rule.uuid}/diff/", {"from": text, "to": text}).status_code in (
        200,
        404,
    )
    assert (
        client.get("/w/acme/simulator/", dict.fromkeys(("task", "seq", "rule", "point"), text)).status_code
        == 200
    )


def test_list__more_than_a_page__goes_on(cast: Cast) -> None:
    rules = [make_rule(cast.workspace, active=False, name=f"Rule {number:03}") for number in range(52)]
    Rule.objects.filter(pk__in=[rule.pk for rule in rules]).update(status="draft")
    client = page_client(cast.viewer)

    first = client.get("/w/acme/rules/")
    cursor = first.context["page"].next_cursor
    second = client.get("/w/acme/rules/", {"cursor": cursor})

    assert "Rule 051" in first.text
    assert "Rule 001" not in first.text
    assert "Rule 001" in second.text


def test_rule__newer_version_waits__says_what_is_served(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    edit_rule(rule=rule, document=weather_document(priority=9), base_version=1, by=SYSTEM)

    text = page_client(cast.viewer).get(f"/w/acme/rules/{rule.uuid}/").text

    assert "Agents are served version 1. Version 2 waits until it is approved." in text


def test_rule__what_it_does__stands_in_one_sentence(cast: Cast) -> None:
    rule = make_rule(cast.workspace)

    text = page_client(cast.viewer).get(f"/w/acme/rules/{rule.uuid}/").text

    assert "Set city to &quot;Shanghai&quot; when it is empty." in text
    assert "<code>input.city</code>" in text


def test_diff__changed_condition_and_detail__stand_field_by_field(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    detail = {"transform": "set_default", "field": "city", "default_value": "Paris"}
    document = weather_document(condition="input.city == null", action_detail=detail)
    edit_rule(rule=rule, document=document, base_version=1, by=SYSTEM)

    answer = page_client(cast.viewer).get(f"/w/acme/rules/{rule.uuid}/diff/")

    fields = [change.field for change in answer.context["changes"]]
    assert fields == ["condition", "action_detail.operations.0.default_value"]
    assert "<ins>&quot;Paris&quot;</ins>" in answer.text


def test_edit__retired__leads_back_with_the_reason(cast: Cast) -> None:
    rule = retire_rule(rule=disable_rule(rule=make_rule(cast.workspace), by=SYSTEM), by=SYSTEM)

    answer = page_client(cast.maintainer).get(f"/w/acme/rules/{rule.uuid}/edit/", follow=True)

    assert answer.redirect_chain[-1][0] == f"/w/acme/rules/{rule.uuid}/"
    assert "A rule that is retired cannot be edited" in answer.text


def test_rule__edited_by_somebody_else__names_who_wrote_the_version(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    edit_rule(rule=rule, document=weather_document(priority=7), base_version=1, by=cast.actor("reviewer"))

    assert (
        "version 2, written by reviewer" in page_client(cast.viewer).get(f"/w/acme/rules/{rule.uuid}/").text
    )
