"""Rule documents: accepted forms and the field paths of what is wrong."""

from typing import Any

import pytest

from hgmem.rules import Rule, RuleError, Ruleset

VALID: dict[str, Any] = {
    "uuid": "r",
    "applies_to": "TOOL_CALL:t",
    "action_type": "PARAMETER_TRANSFORM",
    "action_detail": {"op": "set", "field": "a", "value": 1},
}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        pytest.param({"uuid": ""}, "uuid", id="no uuid"),
        pytest.param({"applies_to": "STEP:t"}, "applies_to", id="unknown form of scope"),
        pytest.param(
            {"applies_to": {"tool": "t", "tols": 1}}, "applies_to.tols", id="unknown field of scope"
        ),
        pytest.param(
            {"applies_to": {"tool_versions": "~1"}}, "applies_to.tool_versions", id="no version range"
        ),
        pytest.param({"applies_to": {"point": "after"}}, "applies_to.point", id="a point the action has not"),
        pytest.param({"condition": "input."}, "condition", id="a broken condition"),
        pytest.param({"condition": "output.a == 1"}, "condition", id="the result before the call"),
        pytest.param({"action_type": "DANCE"}, "action_type", id="unknown action"),
        pytest.param(
            {"action_detail": {"op": "set", "field": "a"}}, "action_detail.operations.0.value", id="no value"
        ),
        pytest.param(
            {"action_detail": {"op": "set", "field": "a..b", "value": 1}},
            "action_detail.operations.0.field",
            id="a broken path",
        ),
        pytest.param(
            {"action_detail": {"op": "regex_replace", "field": "a", "pattern": "(a+)+"}},
            "action_detail.operations.0",
            id="an unsafe pattern",
        ),
        pytest.param(
            {"action_type": "PRE_CALL_VALIDATION", "action_detail": {"check": "1"}},
            "action_detail.check",
            id="a check that is no question",
        ),
        pytest.param(
            {"action_type": "PRE_CALL_VALIDATION", "action_detail": {"schema": {"type": "objekt"}}},
            "action_detail.schema",
            id="no JSON Schema",
        ),
        pytest.param(
            {"action_type": "PRE_CALL_VALIDATION", "action_detail": {"schema": {"$ref": "http://x/y"}}},
            "action_detail.schema",
            id="a schema elsewhere",
        ),
        pytest.param(
            {
                "action_type": "POST_CALL_PARSING_ADJUST",
                "action_detail": {"op": "extract", "path": "$..a..b..c"},
            },
            "action_detail.operations.0.path",
            id="a JSONPath that descends too often",
        ),
        pytest.param(
            {"action_type": "PROMPT_ENHANCEMENT", "action_detail": {"text": "{{ secrets.key }}"}},
            "action_detail.text",
            id="a placeholder that names no variable",
        ),
        pytest.param({"valid_from": "2026-01-01T00:00:00"}, "valid_from", id="a time without zone"),
        pytest.param(
            {"valid_from": "2026-01-02T00:00:00Z", "valid_until": "2026-01-01T00:00:00Z"},
            "valid_until",
            id="a window that ends before it starts",
        ),
        pytest.param({"effectiveness": 1.5}, "effectiveness", id="more than certain"),
        pytest.param({"colour": "red"}, "colour", id="unknown field"),
    ],
)
def test_from_document__wrong_field__is_named(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(RuleError) as caught:
        Rule.from_document({**VALID, **changes})

    assert {fault["field"] for fault in caught.value.errors} == {field}


@pytest.mark.parametrize("document", [None, [], "x", {}, {"action": 1}])
def test_from_document__no_rule_at_all__is_refused(document: Any) -> None:
    with pytest.raises(RuleError):
        Rule.from_document(document)


@pytest.mark.parametrize(
    ("action_type", "detail", "sentence"),
    [
        ("PARAMETER_TRANSFORM", {"op": "clamp", "field": "n", "max": 5}, "Keep n at most 5."),
        ("TOOL_SWITCH", {"tool": "b", "parameters": {"x": "y"}}, "Call b instead, passing y as x."),
        (
            "PRE_CALL_VALIDATION",
            {"check": "input.a > 0", "message": "no"},
            "Refuse the call unless input.a > 0: no.",
        ),
        (
            "POST_CALL_PARSING_ADJUST",
            {"op": "rename", "field": "a", "to": "b"},
            "In the output, rename a to b.",
        ),
        ("PROMPT_ENHANCEMENT", {"text": "Mind the gap."}, "Tell the model: Mind the gap."),
        ("INSERT_STEP", {"tool": "login"}, "First call login."),
    ],
)
def test_rule__each_action__describes_itself_and_survives_a_round_trip(
    action_type: str, detail: dict[str, Any], sentence: str
) -> None:
    rule = Rule.from_document({**VALID, "action_type": action_type, "action_detail": detail})

    assert rule.describe() == sentence
    assert Rule.from_document(rule.to_document()) == rule


def test_from_document__article_author__becomes_an_agent() -> None:
    rule = Rule.from_document({**VALID, "created_by": "agent_7"})

    assert (rule.created_by, rule.author) == ("agent", "agent_7")


def test_ruleset__a_rule_that_does_not_compile__harms_no_other() -> None:
    good = Rule.from_document(VALID)
    bad = good.model_copy(update={"uuid": "bad", "condition": "input."})

    ruleset = Ruleset.compile([bad, good, good], version="1")

    assert [rule.uuid for rule in ruleset.rules] == ["r"]
    assert [broken.uuid for broken in ruleset.broken] == ["bad", "r"]
