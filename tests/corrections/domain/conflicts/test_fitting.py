"""Guessed calls are made to fit the schema of their tool, or are no guess at all."""

import json
from typing import Any

import pytest

from corrections.domain.conflicts.fitting import fitted

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"}, "days": {"type": "integer", "minimum": 3},
        "unit": {"enum": ["C", "F"]}, "where": {
            "type": "object", "properties": {"zip": {"type": ["null", "string"]}}, "required": ["zip"],
        },
    },
    "required": ["city", "days", "unit", "where"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({}, {"city": "x", "days": 3, "unit": "C", "where": {"zip": "x"}}, id="all filled"),
        pytest.param(
            {"city": "Rome", "where": {}}, {"city": "Rome", "days": 3, "unit": "C", "where": {"zip": "x"}},
            id="what is there stays",
        ),
        pytest.param({"city": 7}, None, id="another type"),
        pytest.param({"unit": "K"}, None, id="no such value"),
    ],
)  # fmt: skip
def test_fitted__schema__is_obeyed_or_nothing_is_guessed(
    given: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    call = fitted({"tool": "weather", "input": given}, json.dumps(SCHEMA))

    assert (call and call["input"]) == expected


def test_fitted__no_schema__is_the_call_itself() -> None:
    assert fitted({"input": {"a": 1}}, "") == {"input": {"a": 1}}


@pytest.mark.parametrize(
    "schema",
    ['{"type": 7}', '{"properties": {"a": {"$ref": "#/nowhere"}}, "required": ["a"]}'],
    ids=["no schema at all", "a reference"],
)
def test_fitted__schema_that_nobody_can_check__is_no_guess(schema: str) -> None:
    assert fitted({"input": {}}, schema) is None
