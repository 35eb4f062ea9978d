"""What a demo's play counts, and its life."""

import pytest

from corrections.domain.plays import WINDOW, check_play, count_walk, rates_of
from memory.domain.lifecycle import TransitionError


def test_counts__more_walks_than_a_window__open_the_next() -> None:
    counts: list[list[list[int]]] = []
    for number in range(WINDOW + 1):
        counts = count_walk(counts, pass_number=1, failures=2 * (number == 0), was_told=False)
    counts = count_walk(counts, pass_number=2, failures=0, was_told=True)

    first, second = rates_of(counts)

    assert [(row["first"], row["last"], row["failures"]) for row in first] == [(1, WINDOW, 2), (26, 26, 0)]
    assert first[0]["per_50"] == 4.0
    assert second[0]["told"] == 1


def test_play__finished__cannot_be_started() -> None:
    assert check_play("stopped", "start") == "running"
    with pytest.raises(TransitionError):
        check_play("finished", "start")
