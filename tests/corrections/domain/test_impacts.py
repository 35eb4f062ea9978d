"""What a changed schema means: tables over pairs of schemas, rules and version ranges."""

from typing import Any

import pytest

from corrections.domain.impacts import (
    FieldChange,
    compare_schemas,
    effect_on,
    rebound,
    schema_fields,
    validator_effect,
)
from hgmem.rules import Rule, Scope
from memory.domain.schemas import observe


def learnt(*inputs: dict[str, Any]) -> dict[str, Any]:
    """The schema that these good calls teach."""
    schema: dict[str, Any] = {}
    for one in inputs:
        schema = observe(schema, one)
    return schema


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        pytest.param([{"a": 1}], [{"a": 2}], [], id="the same"),
        pytest.param([{"a": 1}], [{}], [("input.a", "gone")], id="gone"),
        pytest.param([{"a": 1}], [{"a": "x"}], [("input.a", "type")], id="another type"),
        pytest.param([{"a": 1.5}], [{"a": 1}], [], id="a whole number is a number"),
        pytest.param([{"a": 1}, {"a": None}], [{"a": 1}], [], id="fewer types are no news"),
        pytest.param([{"a": 1}, {}], [{"a": 1}], [("input.a", "required")], id="now always there"),
        pytest.param([{}], [{"a": 1}], [("input.a", "required")], id="new and always there"),
        pytest.param([{}], [{"a": 1}, {}], [("input.a", "added")], id="new and optional"),
        pytest.param(
            [{"a": {"b": 1}}],
            [{"a": {"c": 1}}],
            [("input.a.b", "gone"), ("input.a.c", "required")],
            id="inside",
        ),
        pytest.param([{"x.y": 1}], [{}], [('input["x.y"]', "gone")], id="a name with a dot"),
    ],
)
def test_comparison__two_learnt_schemas__names_the_fields(
    old: list[dict[str, Any]], new: list[dict[str, Any]], changes: list[tuple[str, str]]
) -> None:
    found = compare_schemas(learnt(*old), learnt(*new))

    assert [(one.path, one.kind) for one in found] == changes


def rule(action: dict[str, Any], condition: str = "", **scope: Any) -> Rule:
    document = {"uuid": "r", "applies_to": {"tool": "book", **scope}, "condition": condition, **action}
    return Rule.from_document(document)


BLOCK = {"action_type": "PRE_CALL_VALIDATION", "action_detail": {"on_failure": "block"}}
SET = {"action_type": "PARAMETER_TRANSFORM", "action_detail": {"op": "set", "field": "city", "value": 1}}
GONE = (FieldChange("input.city", "gone", "string"), FieldChange("input.new", "added", "", "string"))


@pytest.mark.parametrize(
    ("bound", "binding", "reads", "writes", "out"),
    [
        pytest.param(rule(BLOCK, "input.city == 'x'"), "name", 1, 0, False, id="condition reads it"),
        pytest.param(rule(SET), "name", 0, 1, False, id="action writes it"),
        pytest.param(rule(BLOCK, "input.new == 1"), "name", 0, 0, False, id="an added field hurts nobody"),
        pytest.param(rule(BLOCK, "input.city == 'x'", tool="b*"), "pattern", 1, 0, False, id="by pattern"),
        pytest.param(rule(BLOCK, "input.city == 'x'", tool="*"), "any", 1, 0, False, id="any tool"),
        pytest.param(rule(BLOCK, tool_versions="<2"), "name", 0, 0, True, id="the range leaves it out"),
        pytest.param(rule(BLOCK, tool_versions=">=1"), "name", 0, 0, False, id="the range holds it"),
        pytest.param(
            rule(
                {
                    "action_type": "TOOL_SWITCH",
                    "action_detail": {"tool": "book", "parameters": {"city": "town"}},
                },
                tool="old",
            ),
            "leads_to",
            0,
            1,
            False,
            id="leads there and gives the field",
        ),
        pytest.param(
            rule(
                {"action_type": "INSERT_STEP", "action_detail": {"tool": "book", "arguments": {"id": 1}}},
                tool="old",
            ),
            "leads_to",
            0,
            0,
            False,
            id="leads there without it",
        ),
    ],
)
def test_effect__a_rule_bound_to_the_tool__names_what_it_reads_and_writes(
    bound: Rule, binding: str, reads: int, writes: int, out: bool
) -> None:
    effect = effect_on(bound, "book", "2.0", GONE)

    assert effect is not None
    assert (effect.binding, len(effect.reads), len(effect.writes)) == (binding, reads, writes)
    assert effect.out_of_range is out
    assert effect.is_affected is bool(reads or writes or out)


def test_effect__a_rule_of_another_tool__is_none() -> None:
    assert effect_on(rule(BLOCK, tool="other"), "book", "2.0", GONE) is None


@pytest.mark.parametrize(
    ("versions", "only", "wanted"),
    [
        pytest.param("", False, "", id="any version stays any"),
        pytest.param("", True, "==2.0", id="only the new one"),
        pytest.param(">=1.0, <2", False, ">=1.0, <=2.0", id="the upper bound gives way"),
        pytest.param("==1.4", False, ">=1.4, <=2.0", id="from the old one on"),
        pytest.param(">=1.5", False, ">=1.5", id="holds it already"),
        pytest.param("<2", False, "<=2.0", id="an upper bound alone"),
        pytest.param(">=3", False, ">=2.0", id="a step back"),
        pytest.param("3.1", False, ">=2.0, <=3.1", id="from the new one to the old"),
        pytest.param(">=1, !=2.0", False, ">=1", id="no longer left out"),
    ],
)
def test_rebinding__an_old_range__holds_the_new_version(versions: str, only: bool, wanted: str) -> None:
    assert rebound(Scope(tool="book", tool_versions=versions), "2.0", only=only) == wanted


def test_rebinding__no_reported_version__is_refused() -> None:
    with pytest.raises(ValueError, match="report no version"):
        rebound(Scope(tool="book"), "", only=False)


def test_validator__schema_with_properties__reads_those_fields() -> None:
    fields = schema_fields({"properties": {"city": {}, "day": {}}}, "input")

    assert fields == {"input.city", "input.day"}
    assert [change.path for change in validator_effect(fields, GONE)] == ["input.city"]
    assert schema_fields({"type": "object"}, "input") == {"input"}
