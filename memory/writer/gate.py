"""Who writes when: many requests, few transactions.

SQLite has one writer at a time, and each commit waits for the disk. So the first thread that gets the turn
writes everything that waits, in one transaction, and the others only collect their answers (group commit).
On PostgreSQL every thread writes on its own connection.
"""

import threading
import time
from collections import deque
from collections.abc import Sequence
from datetime import datetime

from django.db import OperationalError, connection, transaction

from memory.writer.merging import Written, write_documents
from memory.writer.prepare import Prepared

GROUP_CALLS = 2_000
ATTEMPTS = 5


class Job:
    """One request's documents, and what became of them."""

    def __init__(self, workspace_id: int, items: Sequence[Prepared], actor: str, now: datetime) -> None:
        self.workspace_id, self.items, self.actor, self.now = workspace_id, items, actor, now
        self.size = sum(len(item.rows) for item in items) + len(items)
        self.results: list[Written] | None = None
        self.error: BaseException | None = None

    @property
    def is_done(self) -> bool:
        """Committed or failed."""
        return self.results is not None or self.error is not None

    def write(self) -> list[Written]:
        """Run it in the current transaction."""
        return write_documents(self.workspace_id, self.items, actor=self.actor, now=self.now)


class Gate:
    """The one writing path of this process."""

    def __init__(self) -> None:
        self._waiting: deque[Job] = deque()
        self._turn = threading.Lock()

    def write(self, job: Job) -> list[Written]:
        """Store the job's documents and return when they are committed.

        Inside a transaction of the caller they are committed with it. Raises what the database raises.
        """
        if connection.in_atomic_block:
            return job.write()
        if connection.vendor == "postgresql":
            return _write_alone(job)
        self._waiting.append(job)
        with self._turn:
            while not job.is_done:
                self._write_group()
        if job.error is not None:
            raise job.error
        return job.results or []

    def _write_group(self) -> None:
        group = self._take()
        try:
            with transaction.atomic():
                written = [job.write() for job in group]
        except Exception as error:
            if len(group) == 1:
                group[0].error = error
            else:  # one of them is to blame: each on its own
                for job in group:
                    self._try(job)
        except BaseException as error:
            for job in group:
                job.error = error
            raise
        else:
            for job, results in zip(group, written, strict=True):
                job.results = results

    def _try(self, job: Job) -> None:
        try:
            with transaction.atomic():
                results = job.write()
        except Exception as error:
            job.error = error
        else:
            job.results = results

    def _take(self) -> list[Job]:
        group = [self._waiting.popleft()]
        size = group[0].size
        while self._waiting and size + self._waiting[0].size <= GROUP_CALLS:
            group.append(self._waiting.popleft())
            size += group[-1].size
        return group


def _write_alone(job: Job) -> list[Written]:
    """A deadlock with another process is not the sender's business: try again."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with transaction.atomic():
                return job.write()
        except OperationalError as error:
            if attempt == ATTEMPTS or not _is_deadlock(error):
                raise
            time.sleep(0.01 * attempt)
    raise AssertionError("unreachable")


def _is_deadlock(error: OperationalError) -> bool:
    return getattr(error.__cause__, "sqlstate", "") in {"40P01", "40001"}


GATE = Gate()
