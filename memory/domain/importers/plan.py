"""What an import would do, before it does it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory.domain.importers.moments import moment
from memory.domain.importers.records import Imported, Item, LineError

MAX_LISTED = 200
FAILED = frozenset({"error", "rejected", "cancelled", "timeout"})


@dataclass(frozen=True, slots=True)
class ToolCount:
    """How often a tool was called, and how often the call is reported as failed."""

    tool: str
    calls: int
    errors: int


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What is in the file. `line_errors` and `notes` list the first 200; the counts are complete.

    `first_at` and `last_at` span the times the file knows; None when it knows none.
    """

    runs: int
    documents: int
    calls: int
    errors: int
    succeeded: int
    failed: int
    tools: tuple[ToolCount, ...]
    first_at: datetime | None
    last_at: datetime | None
    line_error_count: int
    line_errors: tuple[LineError, ...]
    note_count: int
    notes: tuple[tuple[int, str], ...]


def summarise(items: Iterable[Item]) -> ImportPlan:
    """Count what an importer yields, in one pass and without keeping the documents."""
    tally = _Tally()
    for item in items:
        if isinstance(item, LineError):
            tally.take_error(item)
        else:
            tally.take_document(item)
    return tally.plan()


class _Tally:
    def __init__(self) -> None:
        self._runs: set[str] = set()
        self._documents = 0
        self._called: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._results: Counter[str] = Counter()
        self._first: datetime | None = None
        self._last: datetime | None = None
        self._line_errors: list[LineError] = []
        self._line_error_count = 0
        self._notes: list[tuple[int, str]] = []
        self._note_count = 0

    def take_error(self, error: LineError) -> None:
        self._line_error_count += 1
        if len(self._line_errors) < MAX_LISTED:
            self._line_errors.append(error)

    def take_document(self, item: Imported) -> None:
        document = item.document
        self._documents += 1
        self._runs.add(document["external_id"])
        self._results[document.get("outcome", {}).get("result", "unknown")] += 1
        for call in document["calls"]:
            self._called[call["tool"]] += 1
            self._failed[call["tool"]] += call["status"] in FAILED
            self._stretch(call.get("started_at"))
        self._stretch(document.get("started_at"))
        self._stretch(document.get("finished_at"))
        self._note_count += len(item.notes)
        room = MAX_LISTED - len(self._notes)
        self._notes += [(item.line, note) for note in item.notes[:room]]

    def plan(self) -> ImportPlan:
        return ImportPlan(
            runs=len(self._runs),
            documents=self._documents,
            calls=self._called.total(),
            errors=self._failed.total(),
            succeeded=self._results["success"],
            failed=self._results["failure"],
            tools=tuple(
                ToolCount(tool, calls, self._failed[tool]) for tool, calls in self._called.most_common()
            ),
            first_at=self._first,
            last_at=self._last,
            line_error_count=self._line_error_count,
            line_errors=tuple(self._line_errors),
            note_count=self._note_count,
            notes=tuple(self._notes),
        )

    def _stretch(self, text: Any) -> None:
        at = moment(text)
        if at is not None:
            self._first = at if self._first is None else min(self._first, at)
            self._last = at if self._last is None else max(self._last, at)
