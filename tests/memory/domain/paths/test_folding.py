"""Folding: which calls are one decision point, and which later call made up for a failure."""

from collections.abc import Sequence

import pytest

from memory.domain.paths.folding import find_recoveries, fold, is_reading, is_retry
from memory.domain.paths.runs import RunCall
from tests.memory.domain.paths.runs import call

BODY = {"flights": ["HAT001", "HAT002", "HAT003"], "count": 3}


def sizes(calls: Sequence[RunCall]) -> list[int]:
    return [len(point.calls) for point in fold(calls)]


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param([call("a"), call("b"), call("a")], [1, 1, 1], id="different tools stay apart"),
        pytest.param([call("book", "no"), call("book", "no"), call("book")], [2, 1], id="failed tries fold"),
        pytest.param([call("book", "no"), call("find"), call("book", "no")], [1, 1, 1], id="not over others"),
        pytest.param(
            [
                call("sql", "no", input={"q": "SELECT a FROM t"}),
                call("sql", "no", input={"q": "SHOW TABLES"}),
            ],
            [1, 1],
            id="another question is no retry",
        ),
        pytest.param(
            [call("get_x", input={"id": 1}), call("get_x", input={"id": 1})], [2], id="the same look twice"
        ),
        pytest.param(
            [call("get_x", input={"id": 1}), call("get_x", input={"id": 2})], [1, 1], id="another look"
        ),
        pytest.param([call("turn_left"), call("turn_left")], [1, 1], id="the same act twice is two acts"),
        pytest.param(
            [call("book", output=BODY), call("book", output=BODY)], [2], id="the same long answer twice"
        ),
        pytest.param(
            [call("book", output="ok"), call("book", output="ok")], [1, 1], id="a short answer says nothing"
        ),
    ],
)
def test_fold__calls__makes_points_of_these_sizes(calls: list[RunCall], expected: list[int]) -> None:
    assert sizes(calls) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param({}, {"city": "Paris"}, True, id="the missing field was filled in"),
        pytest.param({"id": "A"}, {"id": "B"}, True, id="one argument changed"),
        pytest.param(
            {"q": "SELECT name FROM airports"}, {"q": "SELECT title FROM airports"}, True, id="query"
        ),
        pytest.param({"q": "SELECT name FROM airports"}, {"q": "SHOW TABLES"}, False, id="other query"),
        pytest.param({"q": "查询北京的天气"}, {"q": "查询上海的天气"}, True, id="Chinese"),
    ],
)
def test_is_retry__inputs__are_alike_or_not(
    one: dict[str, str], other: dict[str, str], expected: bool
) -> None:
    assert is_retry(call("t", input=one), call("t", input=other)) is expected
    assert is_retry(call("t", input=one), call("u", input=other)) is False


@pytest.mark.parametrize(
    ("calls", "again", "recovery"),
    [
        pytest.param([call("a", "no"), call("a")], 1, 1, id="at once"),
        pytest.param([call("a", "no"), call("b"), call("a")], 2, 2, id="after something else"),
        pytest.param([call("a", "no"), call("b"), call("a", "no"), call("c"), call("a")], 2, 4, id="later"),
        pytest.param([call("a", "no"), call("b")], None, None, id="never"),
        pytest.param(
            [call("a", "no"), *[call("b", input={"n": n}) for n in range(12)], call("a")],
            None,
            None,
            id="too late",
        ),
    ],
)
def test_find_recoveries__first_call_failed__finds_what_made_up_for_it(
    calls: list[RunCall], again: int | None, recovery: int | None
) -> None:
    points = fold(calls)

    find_recoveries(points)

    assert (points[0].again, points[0].recovery) == (again, recovery)


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("get_user_details", True),
        ("flights.searchDirect", True),
        ("db__list", True),
        ("book_flight", False),
        ("updateReservation", False),
        ("", False),
    ],
)
def test_is_reading__name__tells(tool: str, expected: bool) -> None:
    assert is_reading(tool) is expected
