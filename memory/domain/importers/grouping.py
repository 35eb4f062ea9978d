"""Collects rows that belong together from a stream that mixes them, in bounded memory."""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

MAX_OPEN_ROWS = 100_000


@dataclass(slots=True)
class Group:
    """The rows of one trace, with the line each began on."""

    key: str
    line: int
    rows: list[tuple[int, dict[str, Any]]] = field(default_factory=list)


class Groups:
    """Groups rows by key. Beyond `max_rows` waiting rows, the group untouched for longest is closed."""

    def __init__(self, max_rows: int = MAX_OPEN_ROWS) -> None:
        self._max_rows = max_rows
        self._waiting = 0
        self._open: OrderedDict[str, Group] = OrderedDict()
        self._closed: set[str] = set()

    def add(self, key: str, line: int, row: dict[str, Any]) -> Iterator[Group]:
        """Yields the groups that had to be closed. Raises LateRowError when the row's own one already was."""
        if key in self._closed:
            raise LateRowError(key)
        group = self._open.setdefault(key, Group(key, line))
        group.rows.append((line, row))
        self._open.move_to_end(key)
        self._waiting += 1
        while self._waiting > self._max_rows:
            _, oldest = self._open.popitem(last=False)
            self._waiting -= len(oldest.rows)
            self._closed.add(oldest.key)
            yield oldest

    def rest(self) -> Iterator[Group]:
        """The groups still open, in the order of their first rows' lines."""
        yield from sorted(self._open.values(), key=lambda group: group.line)
        self._open.clear()


class LateRowError(ValueError):
    """A row of a group that was already closed to bound the memory."""

    def __init__(self, key: str) -> None:
        super().__init__(
            f"the rest of trace {key} lies too far before it in the file; sort the export by trace"
        )
