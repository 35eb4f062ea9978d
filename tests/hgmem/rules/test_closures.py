"""The compiled closures and the CEL runtime give the same answers, errors included."""

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hgmem.rules import Condition, EvaluationFailure, Expression, RuleError, parse_context
from tests.hgmem.rules.strategies import conditions, contexts


def _compile(source: str) -> Condition:
    try:
        return Condition.compile(source)
    except RuleError:
        assume(False)
        raise


def _kind(outcome: Any) -> Any:
    return "failure" if isinstance(outcome, EvaluationFailure) else outcome


@settings(max_examples=400, deadline=None)
@given(conditions, contexts())
def test_condition__any_context__closures_equal_the_runtime(source: str, document: dict[str, Any]) -> None:
    condition, context = _compile(source), parse_context(document)

    assert _kind(condition.evaluate(context)) == _kind(condition.evaluate_in_runtime(context))


@pytest.mark.parametrize("function", ["trim", "lowerAscii", "upperAscii", "size"])
@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=12))
def test_text_function__any_text__equals_the_runtime(function: str, text: str) -> None:
    expression = Expression.compile(f"input.a.{function}()")
    context = parse_context({"input": {"a": text}})
    outcome = expression.value_in_runtime(context)

    assert expression.closure is not None
    assert outcome == expression.value(context)
    assert context.clean or isinstance(outcome, EvaluationFailure)


TEXTS = [" \x1c a \u3000", "\x1f", "\u200b", "ÀÉ", "İı", "ß", "\x85x", "😀 ", "a\x00b"]


@pytest.mark.parametrize("function", ["trim()", "lowerAscii()", "upperAscii()", "size()", "contains('b')"])
@pytest.mark.parametrize("text", TEXTS)
def test_text_function__hard_text__equals_the_runtime(function: str, text: str) -> None:
    expression = Expression.compile(f"input.a.{function}")
    context = parse_context({"input": {"a": text}})

    assert _kind(expression.value(context)) == _kind(expression.value_in_runtime(context))
