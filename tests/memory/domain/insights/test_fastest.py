"""Ranking ways by the expected time to a success, in the situation or the nearest wider one."""

import random

import pytest

from memory.domain.insights.fastest import Seen, Situation, find_fastest, way_of
from memory.domain.insights.ways import Tries


def tries(n: int, succeeded: int, ms: float) -> Tries:
    """Attempts that all took the same time."""
    return Tries(n, succeeded, n * ms, n * ms * ms, succeeded * ms)


def seen(way: str, found: Tries, before: str = "find", domain: str = "air", tags: str = '["a"]') -> Seen:
    return Seen(before, domain, tags, way, found)


def test_way__attempts_that_fail__have_to_be_made_again() -> None:
    way = way_of("book(id: 0)", tries(20, 5, 100.0))

    assert (way.expected_ms, way.mean_ms, way.steps) == (400.0, 100.0, ("book(id: 0)",))
    assert way.low_ms is not None
    assert way.high_ms is not None
    assert way.low_ms < 400.0 < way.high_ms


def test_way__no_success__has_no_expected_time() -> None:
    way = way_of("find > book", tries(30, 0, 100.0))

    assert (way.expected_ms, way.low_ms, way.is_known, way.steps) == (None, None, False, ("find", "book"))


def test_way__interval__covers_the_truth_about_as_often_as_it_says() -> None:
    draw = random.Random(3)
    hits = 0
    for _ in range(400):
        found = Tries()
        for _ in range(150):
            worked, ms = draw.random() < 0.6, draw.uniform(50, 150)
            found.add(Tries(1, int(worked), ms, ms * ms, ms * worked))
        way = way_of("book()", found)
        assert way.low_ms is not None
        assert way.high_ms is not None
        hits += way.low_ms <= 100 / 0.6 <= way.high_ms

    assert hits >= 0.92 * 400


def test_rank__enough_data_first__then_by_time() -> None:
    rows = [
        seen("book(a: 0)", tries(50, 50, 300.0)),
        seen("book(b: 0)", tries(5, 5, 1.0)),
        seen("check > book", tries(50, 40, 100.0)),
        seen("book(c: 0)", tries(50, 0, 1.0)),
    ]

    answer = find_fastest(rows, "book", Situation(before="find"))

    assert [way.way for way in answer.ways] == ["check > book", "book(a: 0)", "book(b: 0)", "book(c: 0)"]
    assert answer.is_known


@pytest.mark.parametrize(
    ("asked", "widened"),
    [
        pytest.param(Situation("find", "air", ("a",)), (), id="seen as asked"),
        pytest.param(Situation("find", "air", ("b",)), ("tags",), id="other tags"),
        pytest.param(Situation("find", "sea", ("a",)), ("tags", "domain"), id="other domain"),
        pytest.param(Situation("look", "air", ("a",)), ("tags", "domain", "after"), id="other tool before"),
        pytest.param(Situation(), (), id="anything"),
    ],
)
def test_situation__too_little_seen__is_widened_in_order(asked: Situation, widened: tuple[str, ...]) -> None:
    answer = find_fastest([seen("book(id: 0)", tries(20, 20, 5.0))], "book", asked)

    assert (answer.widened, answer.is_known) == (widened, True)


def test_situation__no_tool_before__leaves_sequences_out() -> None:
    rows = [seen("book(id: 0)", tries(20, 20, 5.0)), seen("check > book", tries(20, 20, 1.0))]

    assert [way.way for way in find_fastest(rows, "book", Situation()).ways] == ["book(id: 0)"]


def test_situation__never_seen__is_an_honest_empty_answer() -> None:
    answer = find_fastest([], "book", Situation("find"))

    assert (answer.ways, answer.is_known) == ([], False)


def test_situation__nowhere_enough__shows_the_narrowest_that_has_any() -> None:
    rows = [seen("book(id: 0)", tries(4, 4, 5.0), domain="sea")]

    answer = find_fastest(rows, "book", Situation("find", "air", ("a",)))

    assert (answer.widened, [way.n for way in answer.ways], answer.is_known) == (
        ("tags", "domain"),
        [4],
        False,
    )
