"""How old a rule's last match is."""

from datetime import UTC, date, datetime, timedelta

import pytest

from corrections.domain.ageing import age_of

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def days_ago(days: int) -> datetime:
    return NOW - timedelta(days=days)


def calls(**by_age: int) -> dict[date, int]:
    return {days_ago(int(age[1:])).date(): n for age, n in by_age.items()}


@pytest.mark.parametrize(
    ("matched", "lately", "called", "expected"),
    [
        pytest.param(40, 0, calls(d50=7, d40=9, d20=100, d0=20), (40, 120, 0.0, True), id="unused"),
        pytest.param(None, 0, calls(d5=30), (60, 30, 0.0, True), id="never-matched-since-it-is-served"),
        pytest.param(40, 0, {}, (40, 0, None, False), id="its-tool-is-silent"),
        pytest.param(0, 5, calls(d0=50, d10=50), (0, 0, 5.0, False), id="in-use"),
        pytest.param(0, 50, calls(d0=10), (0, 0, 100.0, False), id="asked-more-often-than-recorded"),
        pytest.param(2, 4, calls(d29=10, d30=90), (2, 0, 40.0, False), id="lately-is-thirty-days"),
    ],
)
def test_age__calls_of_the_tool__are_counted_since_the_last_match(
    matched: int | None, lately: int, called: dict[date, int], expected: tuple[object, ...]
) -> None:
    age = age_of(
        served_since=days_ago(60), last_matched_at=None if matched is None else days_ago(matched),
        matches_lately=lately, calls=called, now=NOW,
    )  # fmt: skip

    assert (age.days, age.calls_since, age.per_100, age.is_unused) == expected
    assert age.has_matched == (matched is not None)
