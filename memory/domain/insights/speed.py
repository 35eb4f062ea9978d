"""What a task says about the speed of tools: its calls by day, tool and shape of the parameters."""

from collections.abc import Iterable
from typing import Any

import msgspec

from memory.domain.insights.histograms import bucket_of
from memory.domain.insights.runs import InsightRun
from memory.domain.insights.shapes import OTHER_SHAPES, shape_of
from memory.domain.insights.spans import day_of
from memory.domain.insights.sums import read_lines

NAME = "speed"
MAX_SHAPES_OF_TASK = 60
"""Different shapes of one task that are told apart; the rest are other shapes."""
MAX_SHAPES = 40
"""Shapes of a tool and day that are told apart; first come, first kept."""
ALL = ""
"""The shape under which all calls of a tool stand."""

Key = tuple[str, str, str]
"""Day (ISO), tool, shape."""


class Speed(msgspec.Struct, array_like=True, gc=False):
    """Calls of one tool, day and shape: how many, failed, timed, their time in ms, their histogram."""

    n: int = 0
    failed: int = 0
    timed: int = 0
    ms_sum: float = 0.0
    buckets: dict[int, int] = {}

    def add(self, other: "Speed", sign: int = 1) -> None:
        """Add the other one, or with ``sign`` -1 take it away; nothing falls below zero."""
        self.n = max(0, self.n + sign * other.n)
        self.failed = max(0, self.failed + sign * other.failed)
        self.timed = max(0, self.timed + sign * other.timed)
        self.ms_sum = max(0.0, self.ms_sum + sign * other.ms_sum) if self.timed else 0.0
        for bucket, count in other.buckets.items():
            left = self.buckets.get(bucket, 0) + sign * count
            if left > 0:
                self.buckets[bucket] = left
            else:
                self.buckets.pop(bucket, None)


class Row(msgspec.Struct, array_like=True, gc=False):
    """One line of a contribution."""

    day: str
    tool: str
    shape: str
    speed: Speed


def contribute(run: InsightRun) -> Any:
    """The task's calls by day, tool and shape; None without calls."""
    found: dict[Key, Speed] = {}
    shapes: set[tuple[str, str]] = set()
    for call in run.calls:
        shape = shape_of(call.input)
        if (call.tool, shape) not in shapes and len(shapes) >= MAX_SHAPES_OF_TASK:
            shape = OTHER_SHAPES
        shapes.add((call.tool, shape))
        timed = call.duration_ms is not None
        one = Speed(1, int(call.failed), int(timed), call.duration_ms or 0.0)
        if call.duration_ms is not None:
            one.buckets = {bucket_of(call.duration_ms): 1}
        found.setdefault((day_of(call.at), call.tool, shape), Speed()).add(one)
    return [Row(*key, speed) for key, speed in found.items()] or None


def read(part: Any) -> list[Row]:
    """The lines of a contribution; none of what has another form."""
    return read_lines(part, Row)


def place(key: Key, known: dict[Key, Speed], counts: dict[tuple[str, str], int]) -> Key:
    """Under which key a line stands: its own while there is room for its shape, else the other shapes.

    ``counts``: shapes by (day, tool). What is once without room stays so, since no key ever goes: therefore
    a line is taken away where it was added.
    """
    day, tool, _shape = key
    if key in known or counts.get((day, tool), 0) < MAX_SHAPES:
        return key
    return (day, tool, OTHER_SHAPES)


def fold(known: dict[Key, Speed], rows: Iterable[Row], sign: int) -> set[Key]:
    """Add lines to (or take them away from) the cells ``known``; the keys that changed."""
    counts: dict[tuple[str, str], int] = {}
    for day, tool, _shape in known:
        counts[day, tool] = counts.get((day, tool), 0) + 1
    changed: set[Key] = set()
    for row in rows:
        whole = (row.day, row.tool, ALL)
        part = place((row.day, row.tool, row.shape), known, counts)
        for key in (whole, part):
            if key not in known:
                known[key] = Speed()
                counts[key[:2]] = counts.get(key[:2], 0) + 1
            known[key].add(row.speed, sign)
            changed.add(key)
    return changed
