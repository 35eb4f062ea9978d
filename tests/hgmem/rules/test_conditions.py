"""Compiling conditions, what they say about themselves, and that they stay bounded."""

import time
from typing import Any

import pytest
from hypothesis import assume, given, settings

from hgmem.rules import Condition, EvaluationFailure, RuleError, parse_context
from hgmem.rules.unparse import can_unparse, unparse
from tests.hgmem.rules.strategies import conditions, contexts


@pytest.mark.parametrize(
    ("source", "detail"),
    [
        pytest.param("input.", "line 1, column 7", id="syntax, with its place"),
        pytest.param("inputs.a == 1", "undeclared reference to 'inputs.a'", id="unknown variable"),
        pytest.param("input.a.strip() == ''", "undeclared reference to 'strip'", id="unknown function"),
        pytest.param("1 + 1", "must be true or false", id="a number"),
        pytest.param("input.a == 'x' && 'y'", "no matching overload", id="a text where a question belongs"),
        pytest.param("a" * 2_001, "longer than 2000", id="too long"),
        pytest.param("(" * 31 + "true" + ")" * 31, "nested deeper than 30", id="too many brackets"),
        pytest.param("input.a ? true : " * 70 + "false", "nested too deep", id="too deep a tree"),
        pytest.param(
            "input.a.all(x, x.all(y, y.all(z, z > 1)))", "loops are nested deeper than 2", id="too many loops"
        ),
        pytest.param("input.a == 'x\ud800'", "Unicode", id="a lone surrogate"),
        pytest.param("input.a == '\0'", "NUL", id="a NUL"),
    ],
)
def test_compile__bad_expression__says_what_is_wrong(source: str, detail: str) -> None:
    with pytest.raises(RuleError) as caught:
        Condition.compile(source)

    (fault,) = caught.value.errors
    assert fault["field"] == "condition"
    assert detail in fault["detail"]


@pytest.mark.parametrize("source", ["", "  ", "true"])
def test_compile__nothing_or_true__is_always_true(source: str) -> None:
    condition = Condition.compile(source)

    assert condition.always
    assert condition.evaluate({}) is True


def test_condition__article_rule__knows_its_reads_and_constants() -> None:
    condition = Condition.compile("input.city == null || input.city.trim() == '' && env['a-b'].c in [1, 'x']")

    assert condition.read_set == {"input.city", 'env["a-b"].c'}
    assert condition.constants == (None, "", 1, "x")
    assert condition.checked.expr.call_expr.function == "_||_"


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        pytest.param("input.a == null && input.b == 'x'", "input.a == null", id="one more part"),
        pytest.param("input.a == 'x'", "input.a != 'x'", id="equal before unequal"),
        pytest.param("input.a == 'x'", "input.a.startsWith('x')", id="equal before prefix"),
        pytest.param("input.a > 5", "input.a > 5 || input.b", id="a bound before an alternative"),
        pytest.param("has(input.a)", "true", id="anything before always"),
    ],
)
def test_specificity__narrower_condition__counts_more(narrow: str, wide: str) -> None:
    assert Condition.compile(narrow).specificity > Condition.compile(wide).specificity


def test_evaluate__bare_variables__serves_validators() -> None:
    condition = Condition.compile("output.total == input.price * 2")

    assert condition.evaluate({"input": {"price": 2}, "output": {"total": 4}}) is True
    assert condition.evaluate({"input": {"price": 2}, "output": {}}) is False
    assert isinstance(condition.evaluate({"input": {"price": "2"}, "output": {}}), EvaluationFailure)
    assert isinstance(condition.evaluate({"input": {"price": object()}}), EvaluationFailure)


def test_evaluation_failure__used_as_a_truth__refuses() -> None:
    failure = Condition.compile("input.a > 1").evaluate({"input": {}})

    with pytest.raises(TypeError, match="neither true nor false"):
        bool(failure)


LONG = [{"v": at, "w": list(range(100))} for at in range(180)]


@pytest.mark.parametrize(
    ("source", "call_input"),
    [
        pytest.param("input.a.all(x, input.a.all(y, x.v + y.v >= 0))", {"a": LONG}, id="a square of items"),
        pytest.param(
            f"[{'input.w,' * 150} []].all(x, x.all(y, y >= 0))", {"w": [1] * 100}, id="copies of a list"
        ),
        pytest.param("input.t.split('').all(x, x != 'b')", {"t": "a" * 20_000}, id="pieces of a text"),
        pytest.param(
            "input.t" + ".replace('a', 'aaaaaaaaaa')" * 20 + " == ''",
            {"t": "a" * 50},
            id="a text that explodes",
        ),
        pytest.param(
            "input.a.all(x, !input.t.contains(string(x.v)))",
            {"a": LONG, "t": "b" * 500_000},
            id="a long text again and again",
        ),
    ],
)
def test_evaluate__too_much_work__is_refused_at_once(source: str, call_input: dict[str, Any]) -> None:
    condition, context = Condition.compile(source), parse_context({"input": call_input})
    started = time.monotonic()

    outcome = condition.evaluate(context)

    assert isinstance(outcome, EvaluationFailure)
    assert "could" in outcome.detail
    assert time.monotonic() - started < 1


def test_evaluate__loop_over_parts_of_one_list__is_within_the_bound() -> None:
    condition = Condition.compile("input.a.all(x, x.w.all(y, y >= 0))")

    assert condition.evaluate({"input": {"a": LONG[:50]}}) is True


@settings(max_examples=120, deadline=None)
@given(conditions, contexts())
def test_unparse__any_condition__means_the_same(source: str, document: dict[str, Any]) -> None:
    try:
        condition = Condition.compile(source)
    except RuleError:
        assume(False)
        return
    assume(can_unparse(condition.tree))
    context = parse_context(document)

    again = Condition.compile(unparse(condition.tree))

    first, second = condition.evaluate(context), again.evaluate(context)
    assert isinstance(first, EvaluationFailure) == isinstance(second, EvaluationFailure)
    assert isinstance(first, EvaluationFailure) or first is second
