"""What a task says about repeated errors: its calls and failures by hour, tool, agent and error pattern."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec

from memory.domain.insights.runs import InsightRun

NAME = "repeats"
ANY_PATTERN = 0
MAX_AGENT = 200

Key = tuple[str, str, str, int]
"""Hour (ISO, UTC), tool, agent, error pattern (0: all of them, and the calls)."""


class Repeated(msgspec.Struct, array_like=True, gc=False):
    """Calls (under pattern 0 alone), failures, and those whose pattern an earlier task had met."""

    calls: int = 0
    failures: int = 0
    repeats: int = 0

    def add(self, other: "Repeated", sign: int = 1) -> None:
        """Add the other one, or with ``sign`` -1 take it away; nothing falls below zero."""
        for name in self.__struct_fields__:
            setattr(self, name, max(0, getattr(self, name) + sign * getattr(other, name)))


class Row(msgspec.Struct, array_like=True, gc=False):
    """One line of a contribution."""

    hour: str
    tool: str
    agent: str
    pattern: int
    seen: Repeated


def contribute(run: InsightRun) -> Any:
    """The task's calls and failures; None without any.

    A task that failed as a whole counts as a failure of no tool.
    """
    agent = run.agent[:MAX_AGENT]
    ledger: dict[Key, Repeated] = {}
    for call in run.calls:
        _charge(ledger, (hour_of(call.at), call.tool, agent, ANY_PATTERN), Repeated(calls=1))
    for failure in run.failures:
        seen = Repeated(failures=1, repeats=int(failure.repeat))
        for pattern in (ANY_PATTERN, failure.pattern):
            _charge(ledger, (hour_of(failure.happened_at), failure.tool, agent, pattern), seen)
    return [Row(*key, seen) for key, seen in ledger.items()] or None


def hour_of(moment: datetime) -> str:
    """The UTC hour of a moment, as ISO text."""
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0).isoformat()


def _charge(ledger: dict[Key, Repeated], key: Key, seen: Repeated) -> None:
    ledger.setdefault(key, Repeated()).add(seen)


def read(part: Any) -> list[Row]:
    """The lines of a contribution; none of what has another form."""
    try:
        return msgspec.convert(part, list[Row], strict=False)
    except msgspec.ValidationError:
        return []


def fold(known: dict[Key, Repeated], rows: Iterable[Row], sign: int) -> set[Key]:
    """Add lines to (or take them away from) the cells ``known``; the keys that changed."""
    changed: set[Key] = set()
    for row in rows:
        key = (row.hour, row.tool, row.agent, row.pattern)
        known.setdefault(key, Repeated()).add(row.seen, sign)
        changed.add(key)
    return changed
