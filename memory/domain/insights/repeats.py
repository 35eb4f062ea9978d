"""What a task says about repeated errors: its calls and failures by day, tool, agent and error pattern."""

from collections.abc import Iterable
from typing import Any

import msgspec

from memory.domain.insights.runs import InsightRun
from memory.domain.insights.spans import day_of
from memory.domain.insights.sums import ANY_PATTERN, Sums, add_lines, read_lines

NAME = "repeats"
MAX_AGENT = 200

Key = tuple[str, str, str, int]
"""Day (ISO, UTC), tool, agent, error pattern (0: all of them, and the calls)."""


class Repeated(Sums):
    """Calls (under pattern 0 alone), failures, and those whose pattern an earlier task had met."""

    calls: int = 0
    failures: int = 0
    repeats: int = 0


class Row(msgspec.Struct, array_like=True, gc=False):
    """One line of a contribution."""

    day: str
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
        key = (day_of(call.at), call.tool, agent, ANY_PATTERN)
        ledger.setdefault(key, Repeated()).add(Repeated(calls=1))
    for failure in run.failures:
        seen = Repeated(failures=1, repeats=int(failure.repeat))
        for pattern in (ANY_PATTERN, failure.pattern):
            key = (day_of(failure.happened_at), failure.tool, agent, pattern)
            ledger.setdefault(key, Repeated()).add(seen)
    return [Row(*key, seen) for key, seen in ledger.items()] or None


def read(part: Any) -> list[Row]:
    """The lines of a contribution; none of what has another form."""
    return read_lines(part, Row)


def fold(known: dict[Key, Repeated], rows: Iterable[Row], sign: int) -> set[Key]:
    """Add lines to (or take them away from) the cells ``known``; the keys that changed."""
    lines = (((row.day, row.tool, row.agent, row.pattern), row.seen) for row in rows)
    return add_lines(known, lines, sign)
