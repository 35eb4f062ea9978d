"""Other ways to keep an entry on disk before returning. Each gives a function that keeps one.

All of them survive the death of the process; none waits for the disk itself, unless its name says so.
"""

import contextlib
import importlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Keep = Callable[[bytes], Any]


def peers(folder: Path) -> Iterator[tuple[str, Keep | None]]:
    """Name and function; None where a package is not installed."""
    yield "sqlite3, WAL, a commit each", _sqlite(folder / "sqlite", "NORMAL")
    yield "sqlite3, WAL, synced each", _sqlite(folder / "sqlite-full", "FULL")
    for name, make in (("lmdb", _lmdb), ("litequeue", _litequeue), ("diskcache", _diskcache)):
        keep: Keep | None = None
        with contextlib.suppress(ImportError):
            keep = make(importlib.import_module(name), folder / name)
        yield name, keep
    keep = None
    with contextlib.suppress(ImportError):
        keep = importlib.import_module("persistqueue").SQLiteQueue(str(folder / "pq"), auto_commit=True).put
    yield "persist-queue, SQLiteQueue", keep


def bare_write(path: Path) -> Keep:
    """The floor: the bytes, appended to a file."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    return lambda entry: os.write(handle, entry)


def synced_write(path: Path) -> Keep:
    """The floor of what waits for the disk itself."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def keep(entry: bytes) -> None:
        os.write(handle, entry)
        os.fsync(handle)

    return keep


def _sqlite(path: Path, synchronous: str) -> Keep:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("CREATE TABLE entry (id INTEGER PRIMARY KEY, body BLOB)")
    return lambda entry: connection.execute("INSERT INTO entry (body) VALUES (?)", (entry,))


def _lmdb(lmdb: Any, path: Path) -> Keep:
    store = lmdb.open(str(path), map_size=1 << 30, sync=False)
    count = 0

    def keep(entry: bytes) -> None:
        nonlocal count
        count += 1
        with store.begin(write=True) as transaction:
            transaction.put(count.to_bytes(8, "big"), entry, append=True)

    return keep


def _litequeue(litequeue: Any, path: Path) -> Keep:
    queue = litequeue.LiteQueue(str(path))
    return lambda entry: queue.put(entry.decode())


def _diskcache(diskcache: Any, path: Path) -> Keep:
    return diskcache.Deque(directory=str(path)).append  # type: ignore[no-any-return]
