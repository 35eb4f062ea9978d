"""A value may stand in for another only where it is built like it."""

from typing import Any

import pytest

from memory.domain.rewriting.align_shape import (
    LEAST_LIKENESS,
    fit,
    is_composed,
    is_usually_composed,
    likeness,
    likeness_of_params,
)

QUERY = "SELECT name FROM stadiums WHERE capacity > 500"
CODES = ["AAX", "BBX", "CCX", "DDX", "EEX"]


@pytest.mark.parametrize(
    ("one", "other", "is_alike"),
    [
        pytest.param(QUERY, "Korea", False, id="a word for a query"),
        pytest.param(QUERY, "SHOW TABLES", False, id="a short command for a query"),
        pytest.param(QUERY, "SELECT s.name FROM stadium AS s WHERE s.capacity > 500", True, id="a query"),
        pytest.param("Meet us at the north gate", "Meet me at the gate", True, id="two messages"),
        pytest.param("LAX", "SFO", True, id="two codes"),
        pytest.param("Los Angeles", "Rome", True, id="two names"),
        pytest.param(7, 9.5, True, id="two numbers"),
        pytest.param(7, "7", False, id="a text for a number"),
        pytest.param(True, 1, True, id="equal values"),
        pytest.param(True, 0, False, id="a number for yes or no"),
        pytest.param(["a"], "a", False, id="a text for a list"),
        pytest.param([1], ["a"], False, id="lists of different things"),
        pytest.param({"a": 1}, {"b": 1}, False, id="other fields"),
        pytest.param({"a": 1}, {"a": 2}, True, id="the same fields"),
        pytest.param("", "Shanghai", True, id="nothing was given"),
        pytest.param(None, "Shanghai", False, id="null"),
    ],
)
def test_likeness__two_values__tells_whether_they_are_built_alike(
    one: Any, other: Any, is_alike: bool
) -> None:
    assert (likeness(one, other) >= LEAST_LIKENESS) is is_alike
    assert likeness(one, other) == likeness(other, one)


def test_likeness_of_params__one_differs__is_that_one() -> None:
    assert likeness_of_params({"a": 1, "b": QUERY}, {"a": 2, "b": "Korea", "c": 3}) == 0.0
    assert likeness_of_params({"a": 1}, {"b": 2}) == 1.0


@pytest.mark.parametrize(
    ("value", "known", "expected"),
    [
        pytest.param("FFX", CODES, 1.0, id="as long as all others"),
        pytest.param("ann_smith_1", CODES, 0.0, id="longer than all others"),
        pytest.param("ann_smith_1", CODES[:4], 1.0, id="too few to tell"),
        pytest.param("ann_smith_1", [*CODES, "Longer"], 1.0, id="others differ too"),
        pytest.param("x", [], 1.0, id="none known"),
    ],
)
def test_fit__known_values__decide(value: str, known: list[str], expected: float) -> None:
    assert fit(value, known) == expected


def test_is_composed__texts__are_told_from_names() -> None:
    assert [is_composed(value) for value in (QUERY, "f(x) = 1", "Los Angeles", 7)] == [
        True,
        True,
        False,
        False,
    ]
    assert is_usually_composed([QUERY, "SHOW TABLES", "SHOW TABLES"])
    assert not is_usually_composed(["a", "b", "c", "d", QUERY])
    assert not is_usually_composed([])
