"""Receipts on their way to the database: a bounded buffer, written in batches off the answer's path.

What overflows or dies with the process is not lost for good: the token in the agent's experience is the
durable copy, and settling makes the row from it.
"""

import atexit
import threading
from collections import deque
from typing import Any, NamedTuple

from django.db import DatabaseError, IntegrityError, close_old_connections, connections

from corrections.models import Receipt
from hgmem import receipts as tokens
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
    errors: list[dict[str, Any]]


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
        if len(self._waiting) == self._waiting.maxlen:
            self.dropped += 1
        self._waiting.append(Issued(workspace_id, token, bool(decision.block), decision.errors))
        self.flusher.start()

    def flush(self) -> int:
        """Write what waits; returns how many. A batch that cannot be written waits on."""
        written = 0
        with self._writing:
            while batch := self._take():
                try:
                    store_receipts(batch)
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


def store_receipts(batch: list[Issued]) -> None:
    """Insert the receipts of tokens this server issued; those that are there already stay as they are."""
    rows = []
    for issued in batch:
        row = receipt_row(issued.workspace_id, tokens.read_receipt(issued.token, None))
        row.body |= {"blocked": issued.blocked, "errors": issued.errors}
        rows.append(row)
    Receipt.objects.bulk_create(rows, ignore_conflicts=True)


def receipt_row(workspace_id: int, receipt: tokens.Receipt) -> Receipt:
    """The row of a token. Rules are ``[uuid, version, state, arm]`` in the order of precedence."""
    return Receipt(
        uuid=receipt.uuid,
        workspace_id=workspace_id,
        issued_at=receipt.issued_at,
        tool=receipt.asked_tool,
        ruleset_version=receipt.ruleset_version[:40],
        task_external_id=receipt.task_id,
        body={
            "tool": receipt.tool,
            "input_digest": receipt.input_digest,
            "context_digest": receipt.context_digest,
            "rules": [[rule.uuid, rule.version, rule.state, rule.arm] for rule in receipt.rules],
            "rules_omitted": receipt.rules_omitted,
        },
    )


RECEIPTS = ReceiptBuffer()


@atexit.register
def _flush_at_exit() -> None:
    if len(RECEIPTS) and RECEIPTS.flusher.running:
        RECEIPTS.flush()
