"""In what nodes differ that look the same."""

from typing import Any

import pytest

from memory.domain.paths.differences import find_differences
from memory.domain.paths.duplicates import ALMOST, NodeFacts, find_duplicates


def fact(number: int, content: str = "Count the rows", **params: Any) -> NodeFacts:
    return NodeFacts(number, "action", "query", content, params)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param("Count", "Count", [], id="equal"),
        pytest.param("Count", "count", ["case"], id="case"),
        pytest.param("a b", "a  b", ["spacing"], id="spacing"),
        pytest.param("pet_type", "pettype", ["spacing"], id="underscore"),
        pytest.param("PetType", "pet_type", ["case_and_spacing"], id="both"),
        pytest.param("cat", "dog", ["value"], id="something else"),
    ],
)
def test_difference__of_two_texts__is_the_least_that_tells_them_apart(
    one: str, other: str, expected: list[str]
) -> None:
    for nodes in ([fact(1, one), fact(2, other)], [fact(1, column=one), fact(2, column=other)]):
        assert [difference.way for difference in find_differences(nodes)] == expected


def test_difference__parameter_that_one_has__is_named_with_nothing_on_the_other_side() -> None:
    assert find_differences([fact(1, limit=5), fact(2)]) == [("limit", "value", ("5", None))]


@pytest.mark.parametrize(
    ("other", "likeness"),
    [pytest.param("PetType", ALMOST, id="by case"), pytest.param("pettype", 1.0, id="equal")],
)
def test_duplicates__only_what_is_equal__is_wholly_alike(other: str, likeness: float) -> None:
    found = find_duplicates([fact(1, column="pettype"), fact(2, column=other)])

    assert [group.likeness for group in found] == [likeness]
