"""What a task says about retries: calls that repeat a tool which failed and has not worked since."""

from collections.abc import Iterable
from typing import Any

import msgspec

from memory.domain.insights.runs import InsightCall, InsightRun
from memory.domain.insights.spans import day_of
from memory.domain.insights.sums import ANY_PATTERN, Sums, add_lines, read_lines

NAME = "retries"

Key = tuple[str, str, int]
"""Day (ISO), tool, error pattern (0: all of the tool's)."""


class Cost(Sums):
    """Calls and their ms (of the tool as a whole), failures, retries and their ms, how they ended.

    ``recovered`` counts chains of retries that ended with a working call, ``given_up`` those that did not.
    """

    calls: int = 0
    ms: float = 0.0
    failures: int = 0
    retries: int = 0
    retry_ms: float = 0.0
    recovered: int = 0
    given_up: int = 0


class Row(msgspec.Struct, array_like=True, gc=False):
    """One line of a contribution."""

    day: str
    tool: str
    pattern: int
    cost: Cost


class _Chain:
    """A tool that failed and has not worked since: the failure before the next try, its day, the tries."""

    def __init__(self) -> None:
        self.pattern, self.day, self.tries = ANY_PATTERN, "", 0


def contribute(run: InsightRun) -> Any:
    """The task's calls and retries by day, tool and error pattern; None without calls.

    A retry is charged to the pattern of the failure just before it, the end of a chain to the last failure's.
    """
    ledger: dict[Key, Cost] = {}
    open_chains: dict[str, _Chain] = {}
    for call in run.calls:
        _take(ledger, open_chains, call)
    for tool, chain in open_chains.items():
        if chain.tries:
            _charge(ledger, chain.day, tool, chain.pattern, Cost(given_up=1))
    return [Row(*key, cost) for key, cost in ledger.items()] or None


def _take(ledger: dict[Key, Cost], open_chains: dict[str, _Chain], call: InsightCall) -> None:
    day, ms = day_of(call.at), call.duration_ms or 0.0
    ledger.setdefault((day, call.tool, ANY_PATTERN), Cost()).add(Cost(calls=1, ms=ms))
    chain = open_chains.get(call.tool)
    if chain:
        _charge(ledger, day, call.tool, chain.pattern, Cost(retries=1, retry_ms=ms))
        chain.tries += 1
    if call.failed:
        chain = open_chains.setdefault(call.tool, _Chain())
        chain.pattern, chain.day = call.patterns[0], day
        _charge(ledger, day, call.tool, chain.pattern, Cost(failures=1))
    elif chain:
        _charge(ledger, day, call.tool, chain.pattern, Cost(recovered=1))
        del open_chains[call.tool]


def _charge(ledger: dict[Key, Cost], day: str, tool: str, pattern: int, cost: Cost) -> None:
    """To the pattern, and to the tool as a whole."""
    for one in (ANY_PATTERN, pattern):
        ledger.setdefault((day, tool, one), Cost()).add(cost)


def read(part: Any) -> list[Row]:
    """The lines of a contribution; none of what has another form."""
    return read_lines(part, Row)


def fold(known: dict[Key, Cost], rows: Iterable[Row], sign: int) -> set[Key]:
    """Add lines to (or take them away from) the cells ``known``; the keys that changed."""
    return add_lines(known, (((row.day, row.tool, row.pattern), row.cost) for row in rows), sign)
