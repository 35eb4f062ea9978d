"""Rates with their uncertainty, and the geometry of the overview's chart. Pure arithmetic."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import sqrt

ENOUGH_CALLS = 20
"""Below so many calls a rate is not shown: "not enough data" is the honest answer."""


@dataclass(frozen=True)
class Day:
    """What one day brought. ``repeats`` are failures whose pattern an earlier task had already met."""

    day: date
    calls: int = 0
    failures: int = 0
    repeats: int = 0


@dataclass(frozen=True)
class Rate:
    """``hits`` of ``n``, as a share with a 95 % interval; ``is_known`` is False where n is too small."""

    hits: int
    n: int
    value: float
    low: float
    high: float

    @property
    def is_known(self) -> bool:
        """Whether n is large enough to be shown as a rate."""
        return self.n >= ENOUGH_CALLS


def rate_of(hits: int, n: int) -> Rate:
    """The share with Wilson's score interval (Wilson 1927), z = 1.96. Zero of zero is unknown."""
    if n <= 0:
        return Rate(hits, 0, 0.0, 0.0, 1.0)
    z, share = 1.96, min(hits / n, 1.0)
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return Rate(hits, n, share, max(0.0, middle - half), min(1.0, middle + half))


def fill_days(days: Sequence[Day], *, until: date, span: int) -> list[Day]:
    """The ``span`` days that end with ``until``, the empty ones with zeros."""
    known = {day.day: day for day in days}
    dates = [until - timedelta(days=back) for back in range(span - 1, -1, -1)]
    return [known.get(day, Day(day)) for day in dates]


def total_of(days: Sequence[Day]) -> Day:
    """The sums over a span, under its last day."""
    return Day(
        days[-1].day if days else date.min,
        sum(day.calls for day in days),
        sum(day.failures for day in days),
        sum(day.repeats for day in days),
    )


@dataclass(frozen=True)
class Bar:
    """One day on the chart, in its coordinates. ``rate_y`` is None where n is too small for a rate."""

    day: Day
    rate: Rate
    x: float
    width: float
    calls_y: float
    calls_height: float
    failures_y: float
    failures_height: float
    middle: float
    rate_y: float | None


@dataclass(frozen=True)
class Chart:
    """Bars for calls and failures (left axis), a line for the repeat-error rate (right axis)."""

    width: int
    height: int
    base: float
    bars: list[Bar]
    lines: list[str]
    calls_top: int
    rate_top: float


WIDTH, HEIGHT, TOP, BASE = 760, 220, 14, 196
LEFT, RIGHT = 40, 716


def draw_chart(days: Sequence[Day]) -> Chart:
    """Where everything goes. A day with fewer than ``ENOUGH_CALLS`` calls leaves a gap in the line."""
    calls_top = round_up(max((day.calls for day in days), default=0))
    rates = [rate_of(day.repeats, day.calls) for day in days]
    rate_top = max(0.05, *(rate.value for rate in rates if rate.is_known), 0.0)
    slot = (RIGHT - LEFT) / max(len(days), 1)
    tall = BASE - TOP
    bars = []
    for index, (day, rate) in enumerate(zip(days, rates, strict=True)):
        calls, failures = tall * day.calls / calls_top, tall * min(day.failures, day.calls) / calls_top
        width = min(slot * 0.7, 36)
        middle = LEFT + slot * (index + 0.5)
        rate_y = BASE - tall * rate.value / rate_top if rate.is_known else None
        bars.append(
            Bar(day, rate, middle - width / 2, width, BASE - calls, calls, BASE - failures, failures,
                middle, rate_y)
        )  # fmt: skip
    return Chart(WIDTH, HEIGHT, BASE, bars, _lines(bars), calls_top, rate_top)


def _lines(bars: Sequence[Bar]) -> list[str]:
    """The polylines' points: one for each unbroken run of known rates."""
    runs: list[list[str]] = [[]]
    for bar in bars:
        if bar.rate_y is None:
            runs.append([])
        else:
            runs[-1].append(f"{bar.middle:.1f},{bar.rate_y:.1f}")
    return [" ".join(run) for run in runs if len(run) > 1]


def round_up(value: int) -> int:
    """The next 1, 2 or 5 times a power of ten, at least 10: a calm axis."""
    step = 10
    while True:
        for factor in (1, 2, 5):
            if value <= step * factor:
                return step * factor
        step *= 10
