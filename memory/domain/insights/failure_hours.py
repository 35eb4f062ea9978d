"""Failures by pattern and calls by tool, hour by hour: where bursts are looked for."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

NAME = "failure_hours"
MAX_TOOL = 200


def hour_of(moment: datetime) -> int:
    """Whole hours since 1970, in UTC."""
    return int(moment.timestamp() // 3600)


def hours_of(calls: Iterable[tuple[str, datetime]], failures: Iterable[tuple[int, datetime]]) -> Any:
    """What the counter keeps of a task, as JSON: calls as [tool, hour, n], failures as [pattern, hour, n]."""
    called = Counter((tool[:MAX_TOOL], hour_of(at)) for tool, at in calls)
    failed = Counter((pattern, hour_of(at)) for pattern, at in failures)
    if not called and not failed:
        return None
    return {
        "calls": [[*key, count] for key, count in sorted(called.items())],
        "failures": [[*key, count] for key, count in sorted(failed.items())],
    }


def differences(removed: Iterable[Any], added: Iterable[Any], part: str) -> dict[tuple[Any, int], int]:
    """By (tool or pattern, hour), how the count changes. ``part`` is ``calls`` or ``failures``."""
    found: Counter[tuple[Any, int]] = Counter()
    for shares, sign in ((removed, -1), (added, 1)):
        for share in shares:
            for who, hour, count in share[part]:
                found[who, hour] += sign * count
    return {key: count for key, count in found.items() if count}
