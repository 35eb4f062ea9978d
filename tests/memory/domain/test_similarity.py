"""Patterns that resemble each other, and those that do not."""

import pytest

from memory.domain.failures import FailureFinding
from memory.domain.patterns import PatternKey, pattern_of
from memory.domain.similarity import similar_to, similarity


def make_pattern(message: str, tool: str = "sql") -> PatternKey:
    return pattern_of(tool, FailureFinding("output", "error", message), {}, {"domain": "d"})


COLUMN = make_pattern("Unknown column 'student_id' in 'field list'")
NEAR = make_pattern("Unknown column 'student_ids' in 'field list'")
FAR = make_pattern("Unknown column 'colour' in 'field list'")
TABLE = make_pattern("Table 'students' doesn't exist")
OTHER = make_pattern("Too many requests, slow down", tool="http")


def test_similarity__same_sentence__nearer_names_are_nearer() -> None:
    assert (
        1
        > similarity(COLUMN, NEAR)
        > similarity(COLUMN, FAR)
        > similarity(COLUMN, TABLE)
        > similarity(COLUMN, OTHER)
    )


@pytest.mark.parametrize("other", [NEAR, FAR, TABLE, OTHER])
def test_similarity__either_way_round__is_the_same(other: PatternKey) -> None:
    assert similarity(COLUMN, other) == similarity(other, COLUMN)


def test_similarity__itself__is_one() -> None:
    assert similarity(COLUMN, COLUMN) == pytest.approx(1)
    assert similarity(OTHER, OTHER) == pytest.approx(1)


def test_similar_to__many__best_first_without_itself_and_the_dissimilar() -> None:
    found = similar_to(COLUMN, [OTHER, FAR, COLUMN, TABLE, NEAR])

    assert [item.fingerprint for item in found] == [NEAR.fingerprint, FAR.fingerprint]


def test_similar_to__more_than_k__order_does_not_depend_on_the_input() -> None:
    others = [make_pattern(f"Unknown column 'student_{letter}' in 'field list'") for letter in "abcdefgh"]

    assert similar_to(COLUMN, others, k=3) == similar_to(COLUMN, others[::-1], k=3)
    assert len(similar_to(COLUMN, others, k=3)) == 3


def test_similar_to__nothing_alike__is_empty() -> None:
    assert similar_to(OTHER, [COLUMN, TABLE]) == []
