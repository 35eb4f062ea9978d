"""Rates, their intervals and the chart's geometry."""

from datetime import date, timedelta

import pytest

from memory.domain.trends import BASE, TOP, Day, draw_chart, fill_days, rate_of, round_up, total_of

TODAY = date(2026, 3, 10)


@pytest.mark.parametrize(
    ("hits", "n", "value", "low", "high", "is_known"),
    [
        # expected intervals: Wilson's formula worked by hand to four digits
        pytest.param(10, 200, 0.05, 0.0274, 0.0896, True, id="five-percent"),
        pytest.param(0, 100, 0.0, 0.0, 0.0370, True, id="none-of-many"),
        pytest.param(100, 100, 1.0, 0.9630, 1.0, True, id="all"),
        pytest.param(1, 19, 0.0526, 0.0093, 0.2464, False, id="too-few"),
        pytest.param(0, 0, 0.0, 0.0, 1.0, False, id="nothing"),
    ],
)
def test_rate_of__counts__gives_share_and_interval(
    hits: int, n: int, value: float, low: float, high: float, is_known: bool
) -> None:
    rate = rate_of(hits, n)

    assert (rate.value, rate.low, rate.high) == pytest.approx((value, low, high), abs=2e-4)
    assert rate.is_known is is_known


def test_rate_of__more_hits_than_n__stays_a_share() -> None:
    assert rate_of(30, 20).value == 1.0


def test_fill_days__gaps__become_zeros() -> None:
    days = fill_days([Day(TODAY - timedelta(days=2), 5, 1, 1)], until=TODAY, span=4)

    assert [day.calls for day in days] == [0, 5, 0, 0]
    assert days[-1].day == TODAY


def test_total_of__days__adds_up() -> None:
    assert total_of([Day(TODAY, 1, 2, 3), Day(TODAY, 10, 20, 30)]) == Day(TODAY, 11, 22, 33)


@pytest.mark.parametrize(("value", "top"), [(0, 10), (10, 10), (11, 20), (21, 50), (51, 100), (1001, 2000)])
def test_round_up__value__is_the_next_calm_number(value: int, top: int) -> None:
    assert round_up(value) == top


def test_draw_chart__days__stay_inside_and_keep_their_order() -> None:
    chart = draw_chart([Day(TODAY + timedelta(days=n), 40 * n, 9 * n, 3 * n) for n in range(30)])

    assert [bar.middle for bar in chart.bars] == sorted(bar.middle for bar in chart.bars)
    assert all(TOP <= bar.calls_y <= BASE and bar.failures_height <= bar.calls_height for bar in chart.bars)
    assert all(bar.x >= 0 and bar.x + bar.width <= chart.width for bar in chart.bars)


def test_draw_chart__days_with_few_calls__leave_gaps_in_the_line() -> None:
    calls = [100, 100, 3, 100, 100, 100, 3, 100]

    chart = draw_chart([Day(TODAY + timedelta(days=n), count, 5, 5) for n, count in enumerate(calls)])

    assert [len(line.split()) for line in chart.lines] == [2, 3]
    assert [bar.rate_y is None for bar in chart.bars] == [count == 3 for count in calls]


def test_draw_chart__nothing__is_a_chart_without_bars() -> None:
    assert draw_chart([]).bars == []
