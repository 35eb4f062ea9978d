"""Writing rules on the page, as a browser without JavaScript does it."""

import json
from typing import Any

import pytest
from django.test import Client

from corrections.actions.rules import disable_rule, edit_rule
from corrections.models import Rule
from memory.permissions import SYSTEM
from tests.builders import make_call, make_failure, make_task
from tests.conftest import Cast, page_client
from tests.corrections.builders import allow_self_approval, make_rule, weather_document
from tests.corrections.web.scenes import city_calls, city_pattern


def typed(answer: Any, **changes: str) -> dict[str, Any]:
    """What the browser would send back: the texts of the editor as the page holds them, with changes."""
    session = answer.context["session"]
    forms = session.editor._forms()
    texts = {form.add_prefix(name): form[name].value() or "" for form in forms for name in form.fields}
    texts |= dict(session.editor.carried)
    texts |= {row.select_name: row.op for row in session.editor.operations}
    texts |= {
        "mode": session.editor.mode, "operations": str(len(session.editor.operations)),
        "action-action_type": session.editor.action_type, "base_version": str(session.base_version),
        f"seen-{session.editor.action_type}": "1", "pattern": [str(uuid) for uuid in session.patterns],
    }  # fmt: skip
    return {name: text for name, text in {**texts, **changes}.items() if text is not False}


def post(client: Client, path: str, answer: Any, do: str, **changes: str) -> Any:
    """Press a button of the editor."""
    return client.post(path, typed(answer, do=do, **changes))


def test_new__from_a_pattern__is_prefilled_with_its_words_and_a_condition(cast: Cast) -> None:
    pattern = city_pattern(cast.workspace)
    city_calls(cast.workspace, pattern)

    answer = page_client(cast.reviewer).get(f"/w/acme/rules/new/?pattern={pattern.uuid}")

    document = answer.context["editor"].document()
    assert document["applies_to"] == {"tool": "weather_api"}
    assert document["condition"].startswith('env.domain == "travel" && ')
    assert document["action_type"] == "PRE_CALL_VALIDATION"
    assert document["action_detail"]["message"].startswith(
        "This call is known to fail: city must not be empty"
    )
    assert document["description"].startswith("Seen 3 times in 1 task, last on 2026-03-01")
    assert "<strong>3 of 3</strong> failing calls of the ticked patterns" in answer.text
    assert "<strong>0 of 5</strong> good calls in its scope" in answer.text


def test_new__pattern_nothing_explains__starts_with_false(cast: Cast) -> None:
    pattern = city_pattern(cast.workspace, identifier="", scope="")
    task = make_task(cast.workspace)
    make_failure(make_call(task, "weather_api", input={"a": 1}), pattern)
    make_call(task, "weather_api", input={"a": 1})

    answer = page_client(cast.reviewer).get(f"/w/acme/rules/new/?pattern={pattern.uuid}")

    assert answer.context["editor"].document()["condition"] == "false"
    assert "No single argument tells the failing calls from the good ones" in answer.text


def test_new__another_suggestion__is_taken(cast: Cast) -> None:
    pattern = city_pattern(cast.workspace)
    city_calls(cast.workspace, pattern)
    client = page_client(cast.reviewer)
    path = f"/w/acme/rules/new/?pattern={pattern.uuid}"
    found = client.get(path).context["session"].suggestions

    answer = client.get(f"{path}&suggestion=1")

    assert len(found) > 1
    assert answer.context["editor"].document()["condition"] == found[1].condition


def test_new__saved_and_activated__is_served_and_covers_the_pattern(cast: Cast) -> None:
    allow_self_approval(cast.workspace)
    pattern = city_pattern(cast.workspace)
    city_calls(cast.workspace, pattern)
    client = page_client(cast.maintainer)
    start = client.get(f"/w/acme/rules/new/?pattern={pattern.uuid}")

    answer = client.post(
        "/w/acme/rules/new/", typed(start, do="activate", note="From the pattern"), follow=True
    )

    rule = Rule.objects.get()
    pattern.refresh_from_db()
    assert answer.redirect_chain == [(f"/w/acme/rules/{rule.uuid}/", 302)]
    assert (rule.status, rule.latest_version.note, pattern.status) == (
        "active",
        "From the pattern",
        "covered",
    )
    assert (rule.created_by, rule.created_by_kind) == ("maintainer", "human")


def test_new__reviewer_activates__keeps_the_draft_and_asks(cast: Cast) -> None:
    client = page_client(cast.reviewer)
    start = client.get("/w/acme/rules/new/?tool=book")

    answer = client.post(
        "/w/acme/rules/new/",
        typed(start, do="activate", **{"rule-name": "N", "rule-condition": "true"}),
        follow=True,
    )

    assert Rule.objects.get().status == "draft"
    assert "This waits for approval" in answer.text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        pytest.param({"rule-condition": "inptu.city == 1"}, "Did you mean input?", id="word"),
        pytest.param({"rule-condition": "input.city =="}, "ends too early", id="too-early"),
        pytest.param({"rule-condition": "input.city = 'x'"}, "(line 1, column 12)", id="place"),
        pytest.param({"rule-condition": "'a' + 1 == 2"}, "no matching overload", id="types"),
        pytest.param({"rule-condition": "'text'"}, "must be true or false", id="no-question"),
        pytest.param({"rule-priority": "high"}, "This is no number.", id="number"),
        pytest.param({"scope-tool_versions": "~1"}, "is no version bound", id="versions"),
        pytest.param({"rule-valid_until": "2001-01-01T00:00:00"}, "This moment has passed", id="over"),
        pytest.param({"action-action_type": "INSERT_STEP"}, "Field required", id="missing-part"),
    ],
)  # fmt: skip
def test_save__refused__says_where_and_keeps_the_text(cast: Cast, changes: dict[str, str], said: str) -> None:
    client = page_client(cast.maintainer)
    start = client.get("/w/acme/rules/new/?tool=book")
    given = {"rule-name": "Keep <me>", "rule-condition": "input.a == 1", **changes}

    answer = post(client, "/w/acme/rules/new/", start, "save", **given)

    assert answer.status_code == 422
    assert said in answer.text.replace("&#x27;", "'")
    assert 'value="Keep &lt;me&gt;"' in answer.text
    assert answer.context["editor"].rule.data["rule-condition"] == given["rule-condition"]
    assert Rule.objects.count() == 0


def test_edit__same_text__writes_no_version(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    path = f"/w/acme/rules/{rule.uuid}/edit/"
    client = page_client(cast.reviewer)

    answer = client.post(path, typed(client.get(path), do="save"), follow=True)

    assert "no new version was written" in answer.text
    assert rule.versions.count() == 1


def test_edit__saved__is_the_next_version_and_not_yet_served(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    path = f"/w/acme/rules/{rule.uuid}/edit/"
    client = page_client(cast.reviewer)

    client.post(path, typed(client.get(path), do="save", note="why", **{"rule-priority": "7"}))

    rule.refresh_from_db()
    assert (rule.latest_version.number, rule.latest_version.priority, rule.latest_version.note) == (
        2,
        7,
        "why",
    )
    assert rule.live_version.number == 1


def test_edit__stale__shows_both_and_keeps_what_was_typed(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    path = f"/w/acme/rules/{rule.uuid}/edit/"
    client = page_client(cast.reviewer)
    start = client.get(path)
    edit_rule(rule=rule, document=weather_document(priority=9), base_version=1, by=cast.actor("owner"))

    refused = post(client, path, start, "save", note="mine", **{"rule-description": "My words"})
    stale = refused.context["session"].stale

    assert refused.status_code == 409
    assert "owner wrote version 2 meanwhile" in refused.text
    assert ([change.field for change in stale.theirs], [change.field for change in stale.ours]) == (
        ["priority"], ["description"],
    )  # fmt: skip
    assert "My words</textarea>" in refused.text
    assert 'name="note" maxlength="500" value="mine"' in refused.text

    post(client, path, refused, "save")
    rule.refresh_from_db()
    assert (rule.latest_version.number, rule.latest_version.body["description"]) == (3, "My words")


def test_edit__patterns_of_a_served_rule__are_refused_and_the_text_stays(cast: Cast) -> None:
    rule, pattern = make_rule(cast.workspace), city_pattern(cast.workspace)
    path = f"/w/acme/rules/{rule.uuid}/edit/"
    client = page_client(cast.maintainer)

    answer = post(client, path, client.get(path), "save", pattern=str(pattern.uuid))

    assert answer.status_code == 409
    assert "A rule that is served keeps its patterns" in answer.text
    assert f'value="{pattern.uuid}" checked' in answer.text


def test_edit__patterns_of_a_disabled_rule__are_linked(cast: Cast) -> None:
    rule, pattern = disable_rule(rule=make_rule(cast.workspace), by=SYSTEM), city_pattern(cast.workspace)
    path = f"/w/acme/rules/{rule.uuid}/edit/"
    client = page_client(cast.maintainer)

    post(client, path, client.get(path), "save", pattern=str(pattern.uuid))

    assert list(rule.patterns.all()) == [pattern]


def test_form__change_add_remove_and_json__need_no_script_and_save_nothing(cast: Cast) -> None:
    client = page_client(cast.reviewer)
    path = "/w/acme/rules/new/"
    page = client.get(f"{path}?tool=book")

    page = post(client, path, page, "change", **{"action-action_type": "PARAMETER_TRANSFORM"})
    page = post(
        client, path, page, "change", **{"op-0-op": "clamp", "op-0-field": "n", "rule-condition": "true"}
    )
    page = post(client, path, page, "add-operation", **{"op-0-max": "5"})
    page = post(client, path, page, "remove-operation-1")
    page = post(client, path, page, "as-json")
    text = page.context["editor"].json.data["document"]
    page = post(client, path, page, "as-form", document=text.replace('"max": 5', '"max": 6'))

    detail = page.context["editor"].document()["action_detail"]
    assert detail == {"operations": [{"op": "clamp", "field": "n", "max": 6}]}
    assert Rule.objects.count() == 0


def test_form__as_form_of_broken_json__stays_json_with_the_text(cast: Cast) -> None:
    client = page_client(cast.reviewer)
    page = client.get("/w/acme/rules/new/?as=json")

    answer = post(client, "/w/acme/rules/new/", page, "as-form", document='{"half": ')

    assert "The other view needs a document that can be read." in answer.text
    assert "This is no JSON" in answer.text
    assert "{&quot;half&quot;: </textarea>" in answer.text


def test_json__article_rule_pasted__is_saved(cast: Cast) -> None:
    client = page_client(cast.reviewer)
    page = client.get("/w/acme/rules/new/?as=json")
    article = json.dumps({**weather_document(), "correction_id": "c", "effectiveness_score": 0.95})

    post(client, "/w/acme/rules/new/", page, "save", document=article)

    assert Rule.objects.get().latest_version.body["action_detail"]["operations"][0]["op"] == "set_default"


def test_check__htmx__answers_with_the_panel_alone(cast: Cast) -> None:
    pattern = city_pattern(cast.workspace)
    city_calls(cast.workspace, pattern)
    form = {
        "scope-tool": "weather_api", "rule-condition": "input.city == ''", "pattern": str(pattern.uuid),
        "action-action_type": "TOOL_SWITCH",
    }  # fmt: skip

    answer = page_client(cast.reviewer).post("/w/acme/rules/check/", form, headers={"HX-Request": "true"})

    assert "<html" not in answer.text
    assert "<strong>3 of 3</strong>" in answer.text  # although the action is not finished
    assert "<code>action_detail.tool</code>" in answer.text
    assert "<code>input.city</code>" in answer.text


def test_check__plain__shows_the_whole_editor(cast: Cast) -> None:
    rule = make_rule(cast.workspace)
    form = {"rule": str(rule.uuid), "base_version": "1", "rule-condition": "input.a ==", "rule-name": "Typed"}

    answer = page_client(cast.reviewer).post("/w/acme/rules/check/", form)

    assert f'action="/w/acme/rules/{rule.uuid}/edit/"' in answer.text
    assert f'hx-post="/w/acme/rules/{rule.uuid}/edit/"' in answer.text
    assert 'value="Typed"' in answer.text
    assert "ends too early" in answer.text


def test_check__viewer_outsider_and_foreign_rule__are_refused(cast: Cast) -> None:
    foreign = make_rule(cast.elsewhere)
    path = "/w/acme/rules/check/"

    assert page_client(cast.viewer).post(path).status_code == 403
    assert page_client(cast.outsider).post(path).status_code == 404
    assert page_client(cast.reviewer).get(path).status_code == 405
    assert page_client(cast.reviewer).post(path, {"rule": str(foreign.uuid)}).status_code == 404


@pytest.mark.parametrize("text", ["\x00", "x" * 100_000, "{" * 5_000, "\ud7ff😀", "-1", "🙂" * 2_001])
def test_check__nonsense_everywhere__is_no_error(cast: Cast, text: str) -> None:
    page = page_client(cast.reviewer).get("/w/acme/rules/new/?as=json")
    for kind in ("PARAMETER_TRANSFORM", "TOOL_SWITCH", "POST_CALL_PARSING_ADJUST", "INSERT_STEP"):
        start = typed(page)
        form = dict.fromkeys((*start, "rule-condition", "scope-tool", "op-0-op", "op-0-field"), text)
        form |= {"action-action_type": kind, "rule": "", "mode": "form"}
        answer = page_client(cast.reviewer).post("/w/acme/rules/check/", form)
        assert answer.status_code == 200
    for step in ("as-json", "as-form", "add-operation", f"remove-operation-{text}", "simulate", "save", text):
        form = {"mode": "json", "document": text, "do": step, "pattern": text, "base_version": text}
        answer = page_client(cast.reviewer).post("/w/acme/rules/new/", form)
        assert answer.status_code in (200, 422)


def test_simulate__from_the_editor__asks_about_a_failing_call(cast: Cast) -> None:
    pattern = city_pattern(cast.workspace)
    city_calls(cast.workspace, pattern)
    client = page_client(cast.reviewer)
    page = client.get(f"/w/acme/rules/new/?pattern={pattern.uuid}")

    answer = post(client, "/w/acme/rules/new/", page, "simulate")

    assert "The call is refused." in answer.text
    assert "city must not be empty" in answer.text
    assert Rule.objects.count() == 0
