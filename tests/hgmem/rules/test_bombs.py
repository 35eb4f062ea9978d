"""Rules and contexts made to keep the engine busy: refused when written, or an error in the answer."""

from datetime import UTC, datetime
from typing import Any

import pytest

from hgmem.rules import Condition, EvaluationFailure, Rule, RuleError, Ruleset, parse_context
from hgmem.rules.schemas import schema_fault

NOW = datetime(2026, 3, 1, tzinfo=UTC)
LIST = list(range(4_500))
OBJECTS = [{"id": n, "tags": ["a", "b"]} for n in range(60)]


def answer(condition: str, **call_input: Any) -> Any:
    return Condition.compile(condition).evaluate(parse_context({"input": call_input}))


@pytest.mark.parametrize("source", ["input.s.matches(input.p)", "['a'].exists(x, input.s.matches(x))"])
def test_compile__pattern_from_the_context__is_refused(source: str) -> None:
    with pytest.raises(RuleError, match="must be a text in the condition itself"):
        Condition.compile(source)


@pytest.mark.parametrize(
    ("condition", "call_input"),
    [
        pytest.param("input.l.exists(x, (x + 9999) in input.l)", {"l": LIST}, id="every item against all"),
        pytest.param("input.l.map(x, input.l).size() > 1", {"l": LIST}, id="a list of lists"),
        pytest.param("input.l.exists(x, input.l == input.m)", {"l": LIST, "m": LIST}, id="comparing lists"),
        pytest.param(
            "input.a.exists(x, input.l.exists(y, y in x))", {"a": [LIST], "l": LIST}, id="the outer item"
        ),
        pytest.param(
            "input.a.exists(x, input.l.exists(y, y in x.l))",
            {"a": [{"l": LIST}], "l": LIST},
            id="a part of it",
        ),
    ],
)  # fmt: skip
def test_evaluate__too_many_values_in_a_loop__is_an_error(condition: str, call_input: dict[str, Any]) -> None:
    outcome = answer(condition, **call_input)

    assert isinstance(outcome, EvaluationFailure)
    assert "too many values" in outcome.detail or "more than" in outcome.detail


@pytest.mark.parametrize(
    "condition",
    [
        pytest.param("input.a.exists(x, input.b.exists(y, y.id == x.id && x.id > 58))", id="join"),
        pytest.param("input.a.all(x, x.id in input.ids)", id="membership"),
        pytest.param("input.a.exists(x, x.tags.exists(t, t == 'b'))", id="parts of items"),
    ],
)
def test_evaluate__an_ordinary_loop__is_answered(condition: str) -> None:
    assert answer(condition, a=OBJECTS, b=OBJECTS, ids=[item["id"] for item in OBJECTS]) is True


@pytest.mark.parametrize("more", [{}, {"huge": 2**70}], ids=["plain", "in the runtime"])
def test_matches__very_long_text__is_an_error(more: dict[str, Any]) -> None:
    outcome = answer(r"input.s.matches('(?i)(\\pL+\\PL*){20}c')", s="ab" * 400_000, **more)

    assert isinstance(outcome, EvaluationFailure)
    assert "100000 characters" in outcome.detail


def decide(action_type: str, detail: dict[str, Any], **context: Any) -> Any:
    point = "after" if action_type == "POST_CALL_PARSING_ADJUST" else "before"
    document = {
        "uuid": "u",
        "version": 1,
        "name": "r",
        "applies_to": {"point": point, "tool": "t"},
        "action_type": action_type,
    }
    rule = Rule.from_document(document | {"action_detail": detail})
    ruleset = Ruleset.compile([rule], version="1")
    return ruleset.decide(parse_context({"point": point, "tool": "t", **context}), now=NOW)


@pytest.mark.parametrize(
    "path",
    ["$" + "[*,*,*,*]" * 20, "$..*..*", "$.a[?count($.*.*) == @]", "$[" + ",".join(["*"] * 90) + "]..*"],
    ids=["unions", "descents", "filter", "both"],
)
def test_extract__path_that_looks_everywhere_again__is_an_error(path: str) -> None:
    output = {"a": LIST, "b": [[n] for n in LIST]}

    decision = decide(
        "POST_CALL_PARSING_ADJUST",
        {"operations": [{"op": "extract", "path": path, "to": "x", "many": True}]},
        output=output,
    )

    assert "too large for" in decision.errors[0]["detail"]


def test_extract__each_doubles_the_output__stops() -> None:
    steps = [{"op": "extract", "path": "$..*", "to": f"x{n}", "many": True} for n in range(50)]

    decision = decide("POST_CALL_PARSING_ADJUST", {"operations": steps}, output={"a": LIST[:100]})

    assert "too large for" in decision.errors[0]["detail"]


def test_regex_replace__result_grows_without_end__is_an_error() -> None:
    step = {"op": "regex_replace", "field": "s", "pattern": "a", "replacement": "\\0" * 200}

    decision = decide("PARAMETER_TRANSFORM", {"operations": [step]}, input={"s": "a" * 3_000})

    assert "more than 100000 characters" in decision.errors[0]["detail"]


def test_regex_replace__many_open_repeats__are_refused() -> None:
    steps = [{"op": "regex_replace", "field": "s", "pattern": "a+b"}] * 6

    with pytest.raises(RuleError, match="at most 5 regex_replace"):
        decide("PARAMETER_TRANSFORM", {"operations": steps}, input={})


def doubling(keyword: str, last: Any) -> dict[str, Any]:
    """A schema of a few lines with 2**30 ways through it."""
    steps = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(30)}
    return {"$defs": {**steps, "d30": last}, "$ref": "#/$defs/d0"}


@pytest.mark.parametrize(
    ("schema", "document"),
    [
        pytest.param(doubling("allOf", {}), {"a": 1}, id="all of"),
        pytest.param(doubling("anyOf", False), {"a": LIST}, id="any of, with long errors"),
        pytest.param({"properties": {"s": {"pattern": "a*b"}}}, {"s": "a" * 50_000}, id="pattern"),
        pytest.param({"patternProperties": {"a*b": {}}}, {"a" * 50_000: 1}, id="pattern of names"),
    ],
)
def test_schema__would_take_for_ever__cannot_be_applied(schema: dict[str, Any], document: Any) -> None:
    with pytest.raises(ValueError, match="too long"):
        schema_fault(schema, document)


@pytest.mark.parametrize(
    ("items", "fits"),
    [
        pytest.param([1, 2, True, "1", None], True, id="different"),
        pytest.param([1, 1.0], False, id="the same number"),
        pytest.param([{"a": 1, "b": 2}, {"b": 2, "a": 1}], False, id="the same object"),
        pytest.param([n if n % 2 else {"a": n} for n in range(20_000)], True, id="many"),
    ],
)
def test_schema__unique_items__are_compared_by_value(items: list[Any], fits: bool) -> None:
    assert (schema_fault({"properties": {"x": {"uniqueItems": True}}}, {"x": items}) is None) is fits


def test_schema__a_reference_for_each_of_many_items__is_applied() -> None:
    schema = {"$defs": {"n": {"type": "integer"}}, "properties": {"l": {"items": {"$ref": "#/$defs/n"}}}}

    assert schema_fault(schema, {"l": LIST[:3_000]}) is None
    assert schema_fault(schema, {"l": [*LIST[:3_000], "x"]}) == "l[3000]: 'x' is not of type 'integer'"
