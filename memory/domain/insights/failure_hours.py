"""Failures by pattern and calls by tool, hour by hour: where bursts are looked for."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from memory.domain.insights.runs import InsightRun

NAME = "failure_hours"
MOST_ROWS = 300
MOST_BYTES = 10_000
"""A task in more tools and hours than fit counts with those that do."""


def hour_of(moment: datetime) -> int:
    """Whole hours since 1970, in UTC."""
    return int(moment.timestamp() // 3600)


def contribute(run: InsightRun) -> Any:
    """What the counter keeps of a task, as JSON: calls as [tool, hour, n], failures as [pattern, hour, n]."""
    called = Counter((call.tool, hour_of(call.at)) for call in run.calls)
    failed = Counter((failure.pattern, hour_of(failure.happened_at)) for failure in run.failures)
    if not called and not failed:
        return None
    return {"calls": list(_rows(called)), "failures": list(_rows(failed))}


def _rows(counts: Counter[tuple[Any, int]]) -> Iterator[list[Any]]:
    """[tool or pattern, hour, n] in order, up to ``MOST_ROWS`` of them and ``MOST_BYTES`` of names."""
    room = MOST_BYTES
    for (who, hour), count in sorted(counts.items())[:MOST_ROWS]:
        room -= len(str(who).encode())
        if room < 0:
            return
        yield [who, hour, count]


def differences(removed: Iterable[Any], added: Iterable[Any], part: str) -> dict[tuple[Any, int], int]:
    """By (tool or pattern, hour), how the count changes. ``part`` is ``calls`` or ``failures``."""
    found: Counter[tuple[Any, int]] = Counter()
    for shares, sign in ((removed, -1), (added, 1)):
        for share in shares:
            for who, hour, count in share.get(part, ()):
                found[who, hour] += sign * count
    return {key: count for key, count in found.items() if count}
