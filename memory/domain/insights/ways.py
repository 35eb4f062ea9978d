"""What a task says about ways to a result: attempts at a tool, in their situation, with their time.

Every call is an attempt at a result of its tool. The *way* of an attempt is the call itself (tool and shape
of the parameters) or a short sequence of tools that ends with it. The *situation* is the tool just before the
way, the environment's domain and the task's tags. So what was done after the same tool can be compared: the
call at once, or something else first. An attempt takes the durations of all calls of its way, and succeeds
when its last call does; attempts with an unknown duration are left out.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from memory.domain.insights.runs import InsightCall, InsightRun
from memory.domain.insights.shapes import OTHER_SHAPES, shape_of
from memory.domain.insights.spans import day_of

NAME = "ways"
MAX_STEPS = 3
"""Tools of a sequence, the last one included."""
MAX_ROWS = 150
"""Lines of one task's contribution; what comes later in a task is left out."""
MAX_TAGS = 8
MAX_CELLS = 200
"""Ways in situations of one tool and month that are told apart; first come, first kept."""
START = "(start)"
"""Stands before the first call of a task."""
ANY = "(any)"
"""The tool before, of cells beyond those that are told apart."""
THEN = " > "


class Tries(msgspec.Struct, array_like=True, gc=False):
    """Attempts: how many, successful ones, sums of ms, of ms squared, of ms of the successful ones."""

    n: int = 0
    succeeded: int = 0
    ms_sum: float = 0.0
    ms_squares: float = 0.0
    ms_succeeded: float = 0.0

    def add(self, other: "Tries", sign: int = 1) -> None:
        """Add the other ones, or with ``sign`` -1 take them away; nothing falls below zero."""
        self.n = max(0, self.n + sign * other.n)
        self.succeeded = max(0, self.succeeded + sign * other.succeeded)
        self.ms_sum = max(0.0, self.ms_sum + sign * other.ms_sum) if self.n else 0.0
        self.ms_squares = max(0.0, self.ms_squares + sign * other.ms_squares) if self.n else 0.0
        self.ms_succeeded = max(0.0, self.ms_succeeded + sign * other.ms_succeeded) if self.succeeded else 0.0


class Row(msgspec.Struct, array_like=True, gc=False):
    """One line of a contribution: month (ISO, its first day), tool, the tool before, the way."""

    month: str
    tool: str
    before: str
    way: str
    tries: Tries


class Part(msgspec.Struct):
    """The contribution of a task: its domain, its tags (JSON list, sorted), its lines."""

    domain: str
    tags: str
    rows: list[Row]


class Cell(msgspec.Struct, frozen=True, gc=False):
    """Where a line stands."""

    month: str
    tool: str
    before: str
    domain: str
    tags: str
    way: str

    @property
    def key(self) -> str:
        """The digest of the tool, the way and its situation: 32 hexadecimal digits."""
        text = "\0".join((self.tool, self.before, self.domain, self.tags, self.way))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def contribute(run: InsightRun) -> Any:
    """The task's attempts; None without any whose time is known."""
    found: dict[tuple[str, str, str, str], Tries] = {}
    for end, last in enumerate(run.calls):
        for way, begin in _ways(run.calls, end):
            calls = run.calls[begin : end + 1]
            if any(call.duration_ms is None for call in calls):
                break
            before = run.calls[begin - 1].tool if begin else START
            key = (f"{day_of(last.at)[:7]}-01", last.tool, before, way)
            if key in found or len(found) < MAX_ROWS:
                ms, worked = sum(call.duration_ms or 0.0 for call in calls), int(not last.failed)
                found.setdefault(key, Tries()).add(Tries(1, worked, ms, ms * ms, ms * worked))
    rows = [Row(*key, tries) for key, tries in found.items()]
    return Part(run.domain, tags_text(run.tags), rows) if rows else None


def _ways(calls: Sequence[InsightCall], end: int) -> Iterable[tuple[str, int]]:
    """The ways that end with a call, shortest first, with their begins; a retry is its own attempt."""
    tool = calls[end].tool
    yield f"{tool}{shape_of(calls[end].input)}", end
    for begin in range(end - 1, max(-1, end - MAX_STEPS), -1):
        if calls[begin].tool == tool:
            return
        yield THEN.join(call.tool for call in calls[begin : end + 1]), begin


def tags_text(tags: Iterable[str]) -> str:
    """Tags as they are kept and compared: a JSON list, sorted, at most ``MAX_TAGS``."""
    return json.dumps(sorted(set(tags))[:MAX_TAGS], ensure_ascii=False)


def read(part: Any) -> Part:
    """A contribution; an empty one for what has another form."""
    try:
        return msgspec.convert(part, Part, strict=False)
    except msgspec.ValidationError:
        return Part("", "[]", [])


Counts = dict[tuple[str, str], int]
"""How many cells there are of a month and tool."""


def places(part: Part, row: Row) -> tuple[Cell, Cell, Cell]:
    """Where a line may stand: on its own, without domain and tags, with all that is not told apart."""
    return (
        Cell(row.month, row.tool, row.before, part.domain, part.tags, row.way),
        Cell(row.month, row.tool, row.before, "", "[]", row.way),
        Cell(row.month, row.tool, ANY, "", "[]", f"{row.tool}{OTHER_SHAPES}"),
    )


def fold(known: dict[Cell, Tries], counts: Counts, parts: Iterable[Part], sign: int) -> set[Cell]:
    """Add contributions to (or take them away from) the cells ``known``; the cells that changed.

    ``known`` holds those of the :func:`places` that there are, ``counts`` the number of all cells.
    """
    changed: set[Cell] = set()
    for part in parts:
        for row in part.rows:
            cell = _place(*places(part, row), known, counts)
            if cell not in known:
                known[cell] = Tries()
                counts[cell.month, cell.tool] = counts.get((cell.month, cell.tool), 0) + 1
            known[cell].add(row.tries, sign)
            changed.add(cell)
    return changed


def _place(cell: Cell, wider: Cell, rest: Cell, known: dict[Cell, Tries], counts: Counts) -> Cell:
    """The cell itself while there is room; then without domain and tags; then one for all the others.

    No cell ever goes, so what was once without room stays so and is taken away where it was added.
    """
    there = counts.get((cell.month, cell.tool), 0)
    if cell in known or there < MAX_CELLS:
        return cell
    return wider if wider in known or there < 2 * MAX_CELLS else rest
