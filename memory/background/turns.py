"""Turns: work that one process a machine should do at a time.

On PostgreSQL many workers share the backlog by skipping each other's locked rows, so everybody has a turn. On
SQLite a second worker would only compute what the first one writes.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection


@contextmanager
def turn(name: str) -> Iterator[bool]:
    """True while this process has the turn. It ends with the block, or with the process however it dies."""
    if connection.vendor == "postgresql":
        yield True
        return
    handle = os.open(settings.VAR_DIR / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)
