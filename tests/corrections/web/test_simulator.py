"""The simulator page: what agents would be told, and why, or why not."""

import json
from typing import Any

import pytest

from corrections.models import Receipt
from tests.builders import make_call, make_task
from tests.conftest import Cast, page_client
from tests.corrections.builders import make_rule, weather_document
from tests.corrections.web.scenes import city_calls, city_pattern


def ask(cast: Cast, context: Any, document: Any = None) -> Any:
    """Paste a call, and perhaps a rule."""
    texts = [text if isinstance(text, str) else json.dumps(text) for text in (context, document or "")]
    form = {"context": texts[0], "document": "" if document is None else texts[1]}
    return page_client(cast.viewer).post("/w/acme/simulator/", form)


@pytest.mark.parametrize(
    ("call_input", "city"),
    [
        pytest.param({}, "Shanghai", id="missing"),
        pytest.param({"city": None}, "Shanghai", id="null"),
        pytest.param({"city": " "}, "Shanghai", id="blank"),
        pytest.param({"city": "Paris"}, "Paris", id="given"),
    ],
)
def test_simulator__article_rule__corrects_the_empty_city(
    cast: Cast, call_input: dict[str, Any], city: str
) -> None:
    make_rule(cast.workspace)

    answer = ask(cast, {"tool": "weather_api", "input": call_input})

    result = answer.context["result"]
    assert result.answer["input"]["city"] == city
    assert ("The call is corrected." in answer.text) == (city == "Shanghai")
    assert Receipt.objects.count() == 0


def test_simulator__nearly__says_which_part_did_not_hold_and_its_value(cast: Cast) -> None:
    rule = make_rule(cast.workspace, condition="input.city == 'Paris' && input.unit == 'K'")

    answer = ask(cast, {"tool": "weather_api", "input": {"city": "Paris", "unit": "C"}})

    parts = answer.context["result"].items["near_misses"][0]["parts"]
    assert [(part["holds"], part["values"]) for part in parts] == [
        (True, {"input.city": "Paris"}), (False, {"input.unit": "C"}),
    ]  # fmt: skip
    assert f'href="/w/acme/rules/{rule.uuid}/"' in answer.text
    assert "input.unit = <code>&quot;C&quot;</code>" in answer.text


def test_simulator__two_rules_on_one_field__names_the_one_that_gave_way(cast: Cast) -> None:
    make_rule(cast.workspace, name="Strong", priority=9)
    weak = {"transform": "set_default", "field": "city", "default_value": "Rome"}
    make_rule(cast.workspace, name="Weak", action_detail=weak)

    answer = ask(cast, {"tool": "weather_api", "input": {}})

    gave_way = answer.context["result"].items["suppressed"]
    assert [(item["name"], item["by_name"]) for item in gave_way] == [("Weak", "Strong")]
    assert "already written by rule Strong" in answer.text


def test_simulator__condition_fails__is_no_silent_miss(cast: Cast) -> None:
    make_rule(cast.workspace, condition="input.city.trim() == ''")

    answer = ask(cast, {"tool": "weather_api", "input": {"city": 5}})

    assert "a rule could not be evaluated" in answer.text
    assert "trim" in answer.context["result"].items["errors"][0]["detail"]


VERDICTS = [
    pytest.param("PRE_CALL_VALIDATION", {"message": "No."}, "", "The call is refused.", id="block"),
    pytest.param("PRE_CALL_VALIDATION", {"on_failure": "ask"}, "", "told to ask first", id="ask"),
    pytest.param("TOOL_SWITCH", {"tool": "other_api"}, "", "The call is corrected.", id="switch"),
    pytest.param(
        "PROMPT_ENHANCEMENT", {"text": "Mind it"}, "before", "the agent is told something", id="hint"
    ),
    pytest.param("INSERT_STEP", {"tool": "login"}, "", "the agent is told something", id="step"),
    pytest.param(
        "POST_CALL_PARSING_ADJUST",
        {"op": "extract", "path": "$.a"},
        "",
        "the agent is told something",
        id="after",
    ),
]


@pytest.mark.parametrize(("action_type", "detail", "point", "said"), VERDICTS)
def test_simulator__draft_rule_beside_the_live_ones__is_tried(
    cast: Cast, action_type: str, detail: dict[str, Any], point: str, said: str
) -> None:
    scope = {"tool": "weather_api", "point": point}
    document = weather_document(condition="", applies_to=scope, action_type=action_type, action_detail=detail)

    answer = ask(cast, {"tool": "weather_api", "input": {"city": "x"}}, document)

    assert answer.status_code == 200
    assert said in answer.text
    assert "the rule being tried" in answer.text or "Default city" in answer.text


def test_simulator__after_the_call__shows_the_result_as_it_should_be_read(cast: Cast) -> None:
    make_rule(
        cast.workspace, condition="", action_type="POST_CALL_PARSING_ADJUST",
        action_detail={"op": "treat_as_error", "message": "empty answer"},
    )  # fmt: skip
    context = {"tool": "weather_api", "point": "after", "input": {}, "output": {"a": 1}}

    answer = ask(cast, context)

    assert "The result as it should be read" in answer.text
    assert "empty answer" in answer.text


@pytest.mark.parametrize(
    ("context", "document", "said"),
    [
        pytest.param("", None, "Paste a call, or pick a recorded one.", id="nothing"),
        pytest.param("{", None, "This is no JSON", id="broken"),
        pytest.param("[1]", None, "must be a JSON object", id="list"),
        pytest.param({"tool": 5}, None, "tool", id="tool-is-a-number"),
        pytest.param({"point": "never"}, None, "point: must be one of", id="point"),
        pytest.param({"tool": "t", "extra": 1}, None, "extra: unknown field", id="unknown-field"),
        pytest.param({"tool": "t"}, {"condition": "input.a =="}, "documents.0", id="bad-rule"),
        pytest.param({"tool": "t"}, [5], "A rule is a JSON object", id="rule-is-a-number"),
        pytest.param("[" * 50_000, None, "nested too deep", id="deep"),
    ],
)
def test_simulator__bad_question__says_what_is_wrong_and_keeps_it(
    cast: Cast, context: Any, document: Any, said: str
) -> None:
    answer = ask(cast, context, document)

    assert answer.status_code == 422
    assert said in answer.text
    if isinstance(context, dict):
        assert answer.context["question"].form["context"].value() == json.dumps(context)


def test_simulator__recorded_call__can_be_shared_by_its_address(cast: Cast) -> None:
    make_rule(cast.workspace)
    task = city_calls(cast.workspace, city_pattern(cast.workspace))

    answer = page_client(cast.viewer).get(f"/w/acme/simulator/?task={task.uuid}&seq=0")

    assert "The call is corrected." in answer.text
    assert f"simulator/?task={task.uuid}&amp;seq=0" in answer.text
    assert "&quot;history&quot;" in answer.text


def test_simulator__recorded_call_with_a_draft__tries_its_latest_version(cast: Cast) -> None:
    draft = make_rule(cast.workspace, active=False)
    task = city_calls(cast.workspace, city_pattern(cast.workspace))
    client = page_client(cast.viewer)

    without = client.get(f"/w/acme/simulator/?task={task.uuid}&seq=0")
    tried = client.get(f"/w/acme/simulator/?task={task.uuid}&seq=0&rule={draft.uuid}")

    assert "no rule has a say" in without.text
    assert "The call is corrected." in tried.text
    assert f'href="/w/acme/rules/{draft.uuid}/"' in tried.text


@pytest.mark.parametrize("point", ["planning", "after"])
def test_simulator__recorded_call_at_another_point__is_asked_there(cast: Cast, point: str) -> None:
    scope = {"tool": "book", "point": point}
    detail = {"text": "Look first"}
    make_rule(
        cast.workspace, condition="", applies_to=scope, action_type="PROMPT_ENHANCEMENT", action_detail=detail
    )
    call = make_call(make_task(cast.workspace), "book")
    client = page_client(cast.viewer)
    path = f"/w/acme/simulator/?task={call.task.uuid}&seq=0"

    assert "Look first" not in client.get(path).text
    assert "Look first" in client.get(f"{path}&point={point}").text
