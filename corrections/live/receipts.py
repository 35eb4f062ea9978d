"""Receipts on their way to the database: a bounded buffer, appended in batches off the answer's path.

What overflows or dies with the process is not lost for good: the token in the agent's experience is the
durable copy, and settling makes the row from it.
"""

import atexit
import threading
from collections import deque
from typing import Any, NamedTuple

import orjson
from django.db import (
    DatabaseError,
    IntegrityError,
    close_old_connections,
    connection,
    connections,
    transaction,
)

from corrections.models import IssuedToken
from hgmem.periodic import Periodic
from hgmem.rules import Decision

FLUSH_S = 0.2
CAPACITY = 20_000
BATCH = 500


class Issued(NamedTuple):
    """A token that was handed out, and what only the row keeps beside it."""

    workspace_id: int
    token: str
    blocked: bool
    errors: str
    exposures: str


class ReceiptBuffer:
    """Tokens that wait for their row. The oldest fall out first; ``dropped`` counts them."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.dropped = 0
        self.flusher = Periodic("receipt-flusher", FLUSH_S, self._turn, at_end=connections.close_all)
        self._waiting: deque[Issued] = deque(maxlen=capacity)
        self._writing = threading.Lock()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, workspace_id: int, token: str, decision: Decision) -> None:
        """Keep a token for the next flush. Costs an append."""
        errors = decision.errors + decision.withheld_errors
        exposures = [(seen.canary, seen.stage, seen.share, seen.arm) for seen in decision.exposures]
        if len(self._waiting) == self._waiting.maxlen:
            self.dropped += 1
        self._waiting.append(
            Issued(workspace_id, token, bool(decision.block), _json(errors), _json(exposures))
        )
        self.flusher.start()

    def flush(self) -> int:
        """Write what waits; returns how many. A batch that cannot be written waits on."""
        written = 0
        with self._writing:
            while batch := self._take():
                try:
                    append_tokens(batch)
                except IntegrityError:  # a workspace was deleted meanwhile: nobody will ask for these
                    self.dropped += len(batch)
                except DatabaseError:
                    self._put_back(batch)
                    raise
                written += len(batch)
        return written

    def forget(self) -> None:
        """Drop what waits (tests)."""
        self._waiting.clear()
        self.dropped = 0

    def _turn(self) -> None:
        if self._waiting:
            close_old_connections()
            self.flush()

    def _take(self) -> list[Issued]:
        batch: list[Issued] = []
        while self._waiting and len(batch) < BATCH:
            batch.append(self._waiting.popleft())
        return batch

    def _put_back(self, batch: list[Issued]) -> None:
        for issued in reversed(batch):
            if len(self._waiting) == self._waiting.maxlen:
                self.dropped += 1
            else:
                self._waiting.appendleft(issued)


def _json(rows: list[Any]) -> str:
    return orjson.dumps(rows).decode() if rows else "[]"


def append_tokens(batch: list[Issued]) -> None:
    """Append the tokens in one statement. The worker reads them: here every microsecond is an agent's."""
    table = IssuedToken._meta
    column_of = {field.attname: str(field.column) for field in table.concrete_fields}
    names = [column_of[name] for name in Issued._fields]
    columns, marks = ", ".join(map(connection.ops.quote_name, names)), ", ".join(["%s"] * len(names))
    statement = f"INSERT INTO {connection.ops.quote_name(table.db_table)} ({columns}) VALUES ({marks})"  # noqa: S608
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.executemany(statement, batch)


RECEIPTS = ReceiptBuffer()


@atexit.register
def _flush_at_exit() -> None:
    if len(RECEIPTS) and RECEIPTS.flusher.running:
        RECEIPTS.flush()
