"""Collects rows that belong together from a stream that mixes them, in bounded memory."""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

MAX_OPEN_BYTES = 64 * 1024 * 1024


@dataclass(slots=True)
class Group:
    """The rows of one trace, and the line its first one began on. `size` is in bytes of JSON."""

    key: str
    line: int
    rows: list[dict[str, Any]] = field(default_factory=list)
    size: int = 0


class Groups:
    """Groups rows by key. Beyond `max_bytes` of waiting rows, the group untouched for longest is closed."""

    def __init__(self, max_bytes: int = MAX_OPEN_BYTES) -> None:
        self._max_bytes = max_bytes
        self._waiting = 0
        self._open: OrderedDict[str, Group] = OrderedDict()
        self._closed: set[str] = set()

    def add(self, key: str, line: int, row: dict[str, Any], size: int) -> Iterator[Group]:
        """Yields the groups that had to be closed. Raises LateRowError when the row's own one already was.

        `size` is what the row took in the file, in bytes.
        """
        if key in self._closed:
            raise LateRowError(key)
        group = self._open.setdefault(key, Group(key, line))
        group.rows.append(row)
        group.size += size
        self._open.move_to_end(key)
        self._waiting += size
        while self._waiting > self._max_bytes:
            _, oldest = self._open.popitem(last=False)
            self._waiting -= oldest.size
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
