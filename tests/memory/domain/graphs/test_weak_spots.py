"""Weak spots: patterns joined to communities, and spots that keep their identity."""

import pytest

from memory.domain.graphs.weak_spots import (
    MOST_SHARING,
    SpotEdge,
    SpotPattern,
    find_weak_spots,
    identifier_edges,
    same_spots,
)


def make_pattern(number: int, tool: str, failures: int = 1, word: str = "", scope: str = "") -> SpotPattern:
    """A pattern under a number."""
    return SpotPattern(number, tool, failures, word, scope)


def test_identifier_edges__same_word_same_scope__joined() -> None:
    patterns = [
        make_pattern(1, "search", word="user_id", scope="shop"),
        make_pattern(2, "book", word="USER_ID", scope="shop"),
        make_pattern(3, "pay", word="user_id", scope="bank"),
        make_pattern(4, "pay", scope="shop"),
    ]

    assert identifier_edges(patterns) == [SpotEdge(1, 2, "identifier", 1.0, "user_id")]


def test_identifier_edges__word_that_everybody_blames__says_nothing() -> None:
    patterns = [make_pattern(number, f"t{number}", word="id") for number in range(MOST_SHARING + 1)]

    assert identifier_edges(patterns) == []


def test_find_weak_spots__two_groups__two_spots_heaviest_first() -> None:
    patterns = [
        make_pattern(1, "search", 5), make_pattern(2, "book", 3), make_pattern(3, "pay", 1),
        make_pattern(7, "mail", 20), make_pattern(8, "chat", 2), make_pattern(9, "alone", 99),
    ]  # fmt: skip
    edges = [
        SpotEdge(1, 2, "alike", 0.7), SpotEdge(1, 2, "identifier", 1.0, "user_id"),
        SpotEdge(2, 3, "burst", 0.9, hours=(4, 5)), SpotEdge(7, 8, "alike", 0.8),
        SpotEdge(8, 77, "alike", 1.0),
    ]  # fmt: skip

    spots = find_weak_spots(patterns, edges)

    assert [sorted(spot.ids) for spot in spots] == [[7, 8], [1, 2, 3]]
    assert spots[1].tools == ("search", "book", "pay")
    assert (spots[1].failures, spots[1].words, spots[1].hours) == (9, ("user_id",), (4, 5))
    assert spots[1].bonds == {"alike": 1, "identifier": 1, "burst": 1}


@pytest.mark.parametrize(
    ("tools", "is_spot"),
    [
        pytest.param("ab", True, id="two tools"),
        pytest.param("aa", False, id="two of one tool"),
        pytest.param("aaa", True, id="three of one tool"),
    ],
)
def test_find_weak_spots__how_many_tools__worth_a_look_or_not(tools: str, is_spot: bool) -> None:
    patterns = [make_pattern(number, tool) for number, tool in enumerate(tools)]
    edges = [SpotEdge(number, number + 1, "alike", 0.9) for number in range(len(tools) - 1)]

    assert bool(find_weak_spots(patterns, edges)) is is_spot


def test_find_weak_spots__input_in_another_order__same_spots() -> None:
    patterns = [make_pattern(number, f"t{number % 4}") for number in range(30)]
    edges = [SpotEdge(number, (number * 7 + 3) % 30, "alike", 0.7) for number in range(29) if number != 2]

    there = find_weak_spots(patterns, edges)
    back = find_weak_spots(patterns[::-1], edges[::-1])

    assert [spot.ids for spot in there] == [spot.ids for spot in back]


@pytest.mark.parametrize(
    ("found", "same"),
    [
        pytest.param([{1, 2, 3, 4}], {0: 10}, id="one came to it"),
        pytest.param([{1, 2}, {3}], {0: 10}, id="split: the larger half keeps it"),
        pytest.param([{1, 2, 3, 8, 9}], {0: 10}, id="merged: the better overlap gives the name"),
        pytest.param([{1, 5, 6, 7}], {}, id="too little is left"),
    ],
)
def test_same_spots__found_again__best_overlap_keeps_the_key(
    found: list[set[int]], same: dict[int, int]
) -> None:
    before = {10: frozenset({1, 2, 3}), 11: frozenset({8, 9})}

    assert same_spots(before, [frozenset(ids) for ids in found]) == same
