"""Where entries wait that the disk would not take: in memory, a bounded number of bytes."""

import threading
from collections import deque


class Buffer:
    """A queue of entries. Thread-safe; beyond ``limit_bytes`` the oldest are dropped and counted."""

    def __init__(self, limit_bytes: int) -> None:
        self.dropped = 0
        self._limit = limit_bytes
        self._bytes = 0
        self._entries: deque[bytes] = deque()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entry: bytes) -> None:
        """Append an entry; there is always room for one."""
        with self._lock:
            self._entries.append(entry)
            self._bytes += len(entry)
            self._make_room()

    def take(self, most_bytes: int) -> list[bytes]:
        """Remove the oldest entries, up to so many bytes but at least one; empty when nothing waits."""
        taken: list[bytes] = []
        size = 0
        with self._lock:
            while self._entries and (not taken or size + len(self._entries[0]) <= most_bytes):
                size += len(self._entries[0])
                taken.append(self._entries.popleft())
            self._bytes -= size
        return taken

    def put_back(self, entries: list[bytes]) -> None:
        """They could not be delivered: they are the oldest again."""
        with self._lock:
            self._entries.extendleft(reversed(entries))
            self._bytes += sum(map(len, entries))
            self._make_room()

    def drop_all(self) -> None:
        """The process ends."""
        with self._lock:
            self.dropped += len(self._entries)
            self._entries.clear()
            self._bytes = 0

    def _make_room(self) -> None:
        while self._bytes > self._limit and len(self._entries) > 1:
            self._bytes -= len(self._entries.popleft())
            self.dropped += 1
