"""The spool on disk: what was recorded and is not delivered yet.

Each process has a *lane* of its own, ``home/spool/<name>/``: a file ``lock`` that it holds with ``flock`` as
long as it lives, and *segments*, append-only files that are deleted whole when the server has all of them. A
frame is ``length (4 bytes) crc32 (4 bytes) payload``, big-endian; what a crash or a full disk cut off has the
wrong length or sum and is left out. One ``write`` a frame: it survives the death of the process.

The lane of a dead process is taken over by whoever gets its lock first. The death of the machine loses what
was not yet synced: see :meth:`Lane.sync`.
"""

import fcntl
import os
import shutil
import struct
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from uuid import uuid4

HEAD: Final = struct.Struct(">II")
MAX_FRAME_BYTES: Final = 16 * 1024 * 1024
MAX_REFUSED_BYTES: Final = 16 * 1024 * 1024
SEGMENT_BYTES: Final = 2 * 1024 * 1024
"""Also what is sent at once, at most: a quarter of what the server takes in a request."""
NEW_LANE_TRIES: Final = 5
LOCK: Final = "lock"
SUFFIX: Final = ".log"


class Lane:
    """The part of the spool that this process writes. Thread-safe; raises OSError where the disk does."""

    def __init__(self, root: Path, limit_bytes: int, *, sync_each: bool = False) -> None:
        """Takes a new lane below ``root``, whose folders are made when they are missing (mode 0700).

        ``sync_each``: :meth:`append` returns when a frame is on the disk itself, not in the system's memory.
        """
        self.bytes = 0
        self._root = root
        self._limit = limit_bytes
        self._sync_each = sync_each
        self._writing = threading.Lock()
        self._file = -1
        self._current: Path | None = None
        self._size = 0
        self._count = 0
        self._unsynced: set[Path] = set()
        root.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        root.mkdir(mode=0o700, exist_ok=True)
        self.path, self._held = _new_lane(root)

    def append(self, payload: bytes) -> None:
        """Write a frame. Raises OSError when it is not safely there; nothing of it counts then."""
        frame = HEAD.pack(len(payload), zlib.crc32(payload)) + payload
        with self._writing:
            if self.bytes + len(frame) > self._limit or len(payload) > MAX_FRAME_BYTES:
                raise OSError("the spool is full")
            if self._file < 0:
                self._open()
            written = os.write(self._file, frame)
            self.bytes += written
            self._size += written
            if written != len(frame):
                self._close()  # a cut frame ends its segment
                raise OSError("the disk is full")
            if self._sync_each:
                os.fsync(self._file)
            elif self._current is not None:
                self._unsynced.add(self._current)
            if self._size >= SEGMENT_BYTES:
                self._close()

    def seal(self) -> list[Path]:
        """End the segment that is being written; all segments, oldest first."""
        with self._writing:
            self._close()
        return sorted(self.path.glob(f"*{SUFFIX}"))

    def discard(self, segment: Path) -> None:
        """Delete a segment that was delivered."""
        try:
            size = segment.stat().st_size
            segment.unlink()
        except FileNotFoundError:  # let go at the end of the process, and taken over meanwhile
            return
        with self._writing:
            self.bytes -= size
            self._unsynced.discard(segment)

    def sync(self) -> None:
        """Make all that was appended survive the death of the machine. Holds up no :meth:`append`."""
        with self._writing:
            segments, self._unsynced = self._unsynced, set()
        for segment in segments:
            _sync(segment)
        if segments:
            _sync(self.path)

    def oldest_s(self) -> float:
        """About how many seconds the oldest segment has been waiting; 0 when none does."""
        ages = (_age_s(segment) for segment in self.path.glob(f"*{SUFFIX}"))
        return max(ages, default=0.0)

    def adopt(self, root: Path | None = None) -> int:
        """Take over the segments of dead processes, below this spool's root or another; how many."""
        taken = 0
        for path in (root or self._root).iterdir():
            if path == self.path or not path.is_dir():
                continue
            held = _try_lock(path)
            if held is None:
                continue
            try:
                taken += self._take(path)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(held)
        return taken

    def release(self) -> None:
        """Let go: what is left is for the next process."""
        with self._writing:
            self._close()
        if self._held is not None:
            if not any(self.path.glob(f"*{SUFFIX}")):
                shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._held)
            self._held = None

    def forget(self) -> None:
        """In a forked child: the parent's files are no business of this process any more."""
        for handle in (self._file, self._held):
            if handle is not None and handle >= 0:
                os.close(handle)
        self._file, self._held = -1, None

    def _open(self) -> None:
        self._count += 1
        self._current = self.path / f"{self._count:08d}{SUFFIX}"
        self._file = os.open(self._current, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        self._size = 0

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _take(self, path: Path) -> int:
        """Rename each segment into this lane: before any of its own, since it is older, and in their order.

        Out of order the end of a task could arrive before its calls, and the server takes no call after it.
        """
        name = uuid4().hex
        segments = sorted(path.glob(f"*{SUFFIX}"))
        for number, segment in enumerate(segments):
            size = segment.stat().st_size
            segment.rename(self.path / f"00000000-{name}-{number:08d}{SUFFIX}")
            with self._writing:
                self.bytes += size
        return len(segments)


def read_frames(segment: Path) -> Iterator[bytes]:
    """The payloads of a segment, up to the first one that is not whole."""
    with segment.open("rb") as file:
        while len(head := file.read(HEAD.size)) == HEAD.size:
            length, checksum = HEAD.unpack(head)
            if length > MAX_FRAME_BYTES:
                return
            payload = file.read(length)
            if len(payload) != length or zlib.crc32(payload) != checksum:
                return
            yield payload


def append_refused(folder: Path, row: bytes) -> None:
    """Add a line to what the server refused; the older half goes when it is too much."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / "refused.jsonl"
    if path.exists() and path.stat().st_size > MAX_REFUSED_BYTES:
        path.replace(folder / "refused.old.jsonl")
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(handle, row + b"\n")
    finally:
        os.close(handle)


def _new_lane(root: Path) -> tuple[Path, int | None]:
    """A folder of our own with its lock. Another process may take a new one for a dead one: then again."""
    for _ in range(NEW_LANE_TRIES):
        path = root / uuid4().hex
        path.mkdir(mode=0o700)
        held = _try_lock(path)
        if held is not None:
            return path, held
    raise OSError(f"no folder in {root} can be locked")


def _age_s(segment: Path) -> float:
    try:
        return max(0.0, time.time() - segment.stat().st_mtime)
    except FileNotFoundError:  # delivered meanwhile
        return 0.0


def _sync(path: Path) -> None:
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:  # delivered meanwhile
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _try_lock(path: Path) -> int | None:
    """The lock of a lane, or None while its process lives. It ends with the process, however that dies."""
    try:
        handle = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:  # another one has just taken it over
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    if not (path / LOCK).exists():  # taken over and removed between the two
        os.close(handle)
        return None
    return handle
