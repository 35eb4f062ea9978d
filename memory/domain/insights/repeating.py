"""Rates of repeated errors, from the counted cells: over days, by name, and before and after a moment."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from memory.domain.insights.repeats import Repeated
from memory.domain.trends import Rate, rate_of

REPEAT_HEADER = (
    "name",
    "calls",
    "failures",
    "repeats",
    "failure_rate",
    "repeat_rate",
    "repeat_low",
    "repeat_high",
)
RULE_HEADER = (
    "rule", "tool", "served_since",
    "calls_before", "failures_before", "rate_before", "low_before", "high_before",
    "calls_after", "failures_after", "rate_after", "low_after", "high_after",
)  # fmt: skip


@dataclass(frozen=True)
class RepeatRate:
    """Under one name: ``failed`` are failures, ``again`` repeated ones, each of all calls.

    A pattern has no calls itself: its rates are of all calls that were asked about.
    """

    name: str
    seen: Repeated
    failed: Rate
    again: Rate


def repeats_of(name: str, seen: Iterable[Repeated], calls: int | None = None) -> RepeatRate:
    """All of it together; rates of ``calls`` where they are given. Failures without a call leave the rate
    at 1."""
    total = Repeated()
    for one in seen:
        total.add(one)
    of = total.calls if calls is None else calls
    return RepeatRate(
        name=name, seen=total, failed=rate_of(min(total.failures, of), of),
        again=rate_of(min(total.repeats, of), of),
    )  # fmt: skip


def repeats_by_day(cells: Mapping[date, Repeated], days: Iterable[date]) -> list[RepeatRate]:
    """One line a day, in the order of ``days``."""
    return [repeats_of(day.isoformat(), [cells.get(day, Repeated())]) for day in days]


def repeat_rows(found: Iterable[RepeatRate]) -> list[tuple[Any, ...]]:
    """Under ``REPEAT_HEADER``; a rate without calls is empty."""
    return [
        (
            item.name, item.seen.calls, item.seen.failures, item.seen.repeats,
            _share(item.failed.value) if item.failed.n else None, *_bounds(item.again),
        )
        for item in found
    ]  # fmt: skip


def repeat_json(item: RepeatRate) -> dict[str, Any]:
    """One line of the API; rates are null where there is not enough data."""
    known = item.again.is_known
    value, low, high = _bounds(item.again) if known else (None, None, None)
    return {
        "name": item.name, "calls": item.seen.calls, "failures": item.seen.failures,
        "repeats": item.seen.repeats, "failure_rate": _share(item.failed.value) if known else None,
        "repeat_rate": value, "repeat_low": low, "repeat_high": high,
    }  # fmt: skip


def side_json(rate: Rate) -> dict[str, Any]:
    """One side of a comparison in the API."""
    value, low, high = _bounds(rate) if rate.is_known else (None, None, None)
    return {"calls": rate.n, "failures": rate.hits, "rate": value, "low": low, "high": high}


def side_cells(rate: Rate) -> tuple[Any, ...]:
    """One side of a comparison in a CSV."""
    return (rate.n, rate.hits, *_bounds(rate))


def _bounds(rate: Rate) -> tuple[float | None, float | None, float | None]:
    if not rate.n:
        return None, None, None
    return _share(rate.value), _share(rate.low), _share(rate.high)


def _share(value: float) -> float:
    return round(value, 6)
