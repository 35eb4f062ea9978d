"""Bursts: more failures than the calls explain, and patterns that burst together."""

import random

import pytest

from memory.domain.insights.bursts import burst_hours, coincidences
from memory.domain.insights.failure_hours import differences

CALLS = dict.fromkeys(range(200), 100)


@pytest.mark.parametrize(
    ("failures", "calls", "bursts"),
    [
        pytest.param(dict.fromkeys(range(200), 1) | {50: 12}, CALLS, {50}, id="far above"),
        pytest.param(dict.fromkeys(range(200), 5), CALLS, set(), id="always as many"),
        pytest.param(
            dict.fromkeys(range(200), 2) | {50: 20}, CALLS | {50: 1_000}, set(), id="only more to do"
        ),
        pytest.param({50: 6}, CALLS, {50}, id="never else"),
        pytest.param({50: 2}, CALLS, set(), id="too few to say"),
        pytest.param({5: 9}, dict.fromkeys(range(10), 100), set(), id="too few hours to know what is usual"),
    ],
)
def test_burst_hours__failures_by_hour__hours_above_the_usual_rate(
    failures: dict[int, int], calls: dict[int, int], bursts: set[int]
) -> None:
    assert burst_hours(failures, calls, calls) == bursts


def test_coincidences__same_hours__linked_across_tools_only() -> None:
    hours = frozenset({10, 11, 12})
    bursts = {1: hours, 2: hours, 3: hours, 4: frozenset({90, 91, 92})}

    found = coincidences(bursts, {1: "search", 2: "book", 3: "book", 4: "pay"}, active=200)

    assert [(one.one, one.other, one.hours, one.share) for one in found] == [
        (1, 2, (10, 11, 12), 1.0), (1, 3, (10, 11, 12), 1.0),
    ]  # fmt: skip


def test_coincidences__bursts_by_chance__hardly_ever_linked() -> None:
    chance, linked = random.Random(5), 0
    for _ in range(50):
        bursts = {pattern: frozenset(chance.sample(range(300), 6)) for pattern in range(20)}
        linked += bool(coincidences(bursts, {pattern: str(pattern) for pattern in range(20)}, active=300))

    assert linked <= 3


def test_coincidences__one_shared_hour__not_enough() -> None:
    assert coincidences({1: frozenset({3}), 2: frozenset({3})}, {1: "a", 2: "b"}, active=10_000) == []


def test_differences__task_looked_at_again__only_what_changed() -> None:
    old = {"calls": [["search", 5, 2]], "failures": [[7, 5, 1]]}
    new = {"calls": [["search", 5, 2], ["book", 6, 1]], "failures": []}

    assert differences([old], [new], "calls") == {("book", 6): 1}
    assert differences([old], [new], "failures") == {(7, 5): -1}
