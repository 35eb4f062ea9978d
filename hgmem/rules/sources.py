"""CEL source text inside a document, as pydantic types: what does not compile is refused in its own words."""

from typing import Annotated

from pydantic import AfterValidator

from hgmem.rules.conditions import Condition, Expression
from hgmem.rules.errors import RuleError


def _check_condition(source: str) -> str:
    try:
        Condition.compile(source)
    except RuleError as error:
        raise ValueError(error.details) from None
    return source


def _check_expression(source: str) -> str:
    try:
        Expression.compile(source)
    except RuleError as error:
        raise ValueError(error.details) from None
    return source


ConditionText = Annotated[str, AfterValidator(_check_condition)]
"""A pydantic type: a yes-or-no question; empty is always true."""

ExpressionText = Annotated[str, AfterValidator(_check_expression)]
"""A pydantic type: an expression of any value."""
