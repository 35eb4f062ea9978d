"""Carry an applied import on: what the worker and the command do, item by item and safe to kill."""

import logging
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from typing import Any

from django.db import DatabaseError
from django.utils import timezone

from memory.actions.imports import source_name
from memory.actions.record import ItemResult, record_experience
from memory.actions.uploads import drop_upload, upload_path, upload_pieces
from memory.domain.importers import Imported, Item, LineError, read
from memory.models import ImportJob
from memory.permissions import system_actor

BATCH_ITEMS = 50
BATCH_CALLS = 500
LEASE_S = 30
"""After so long without a sign of life another worker takes over."""
MAX_PROBLEMS = 200
PAUSE_S = 0.5
log = logging.getLogger(__name__)

Progress = Callable[[int, int], None]
"""Told how many items of how many are done."""


@dataclass
class Batch:
    """Items that are recorded together."""

    items: list[Item] = field(default_factory=list)
    calls: int = 0

    def add(self, item: Item) -> None:
        """Append one."""
        self.items.append(item)
        self.calls += len(item.document["calls"]) if isinstance(item, Imported) else 0

    def fits(self, item: Item) -> bool:
        """Whether one more stays within the limits of a batch."""
        more = len(item.document["calls"]) if isinstance(item, Imported) else 0
        return not self.items or (len(self.items) < BATCH_ITEMS and self.calls + more <= BATCH_CALLS)


def carry_on_import(job: ImportJob, *, budget_s: float = 5, progress: Progress | None = None) -> bool:
    """Import from ``job.cursor`` for about ``budget_s`` seconds; True when there is no more to do.

    Each batch is committed before the cursor moves, so a kill at any moment loses nothing; the batch that is
    sent twice changes nothing. Of two workers one gets it. A cancelled job stops after its batch.
    """
    if not _claim(job):
        return job.status != "running"
    try:
        return _import_batches(job, time.monotonic() + budget_s, progress)
    except DatabaseError:
        log.exception("Import %s stopped at item %s; it goes on from there.", job.uuid, job.cursor)
        raise
    except Exception as error:
        log.exception("Import %s failed at item %s.", job.uuid, job.cursor)
        _finish(job, "failed", reason=f"{type(error).__name__}: {error}"[:300])
        return True


def finish_import(*, job: ImportJob, take_over: bool = False, progress: Progress | None = None) -> None:
    """Carry an applied import on to its end, here and now: what a command does.

    While a worker is at it this waits; ``take_over`` is for when no worker can run and the last one died.
    """
    if take_over:
        ImportJob.objects.filter(pk=job.pk, status="running").update(beat_at=None)
    while not carry_on_import(job, budget_s=math.inf, progress=progress):
        time.sleep(PAUSE_S)


def carry_on_imports(*, budget_s: float = 5) -> int:
    """Carry on every import that nobody is at. Returns how many; called by the clock."""
    waiting = list(ImportJob.objects.unattended(timezone.now() - timedelta(seconds=LEASE_S)).order_by("id"))
    for job in waiting:
        carry_on_import(job, budget_s=budget_s)
    return len(waiting)


def drop_stale_uploads(*, older_than: timedelta = timedelta(days=7)) -> int:
    """Remove the files of imports that nobody applied. Returns how many."""
    stale = ImportJob.objects.filter(created_at__lt=timezone.now() - older_than).exclude(stored_as="")
    dropped = 0
    for job in list(stale.filter(status__in=("planned", "cancelled", "failed"))):
        untouched = ImportJob.objects.filter(pk=job.pk, status=job.status)
        if untouched.update(stored_as="", status="cancelled"):  # else somebody applied it just now
            drop_upload(job.stored_as)
            dropped += 1
    return dropped


def _claim(job: ImportJob) -> bool:
    now = timezone.now()
    free = ImportJob.objects.unattended(now - timedelta(seconds=LEASE_S)).filter(pk=job.pk)
    mine = free.update(beat_at=now) == 1
    job.refresh_from_db()
    if mine and job.started_at is None:
        job.started_at = now
        job.save(update_fields=["started_at"])
    return mine


def _import_batches(job: ImportJob, until: float, progress: Progress | None) -> bool:
    if not upload_path(job.stored_as).is_file():
        _finish(job, "failed", reason="The uploaded file is gone.")
        return True
    source = source_name(job.file_name)
    items = islice(read(job.format, upload_pieces(job.stored_as), source=source), job.cursor, None)
    for batch in batches(items):
        started = time.monotonic()
        _record(job, batch)
        job.seconds += time.monotonic() - started
        if not _move_cursor(job, len(batch.items)):
            return True
        if progress:
            progress(job.cursor, job.total)
        if time.monotonic() > until:
            ImportJob.objects.filter(pk=job.pk, status="running").update(beat_at=None)
            return False
    _finish(job, "done")
    drop_upload(job.stored_as)
    return True


def batches(items: Iterator[Item]) -> Iterator[Batch]:
    """Items in groups of at most 50 and 500 calls."""
    batch = Batch()
    for item in items:
        if not batch.fits(item):
            yield batch
            batch = Batch()
        batch.add(item)
    if batch.items:
        yield batch


def _record(job: ImportJob, batch: Batch) -> None:
    imported = [item for item in batch.items if isinstance(item, Imported)]
    by = system_actor(f"import by {job.created_by}"[:200])
    documents = [item.document for item in imported]
    results = record_experience(workspace_id=job.workspace_id, documents=documents, by=by)
    for item, result in zip(imported, results, strict=True):
        _count(job, result.status, result.calls_added)
        _keep_problem(job, _refusal(item, result))
    for error in (item for item in batch.items if isinstance(item, LineError)):
        _count(job, "unread", 0)
        _keep_problem(job, {"line": error.line, "reason": error.reason, "excerpt": error.excerpt})


def _count(job: ImportJob, status: str, calls: int) -> None:
    job.result[status] = job.result.get(status, 0) + 1
    job.result["calls_added"] = job.result.get("calls_added", 0) + calls


def _refusal(item: Imported, result: ItemResult) -> dict[str, Any] | None:
    if result.status not in {"conflict", "invalid"}:
        return None
    said = "; ".join(f"{error.field}: {error.detail}" for error in result.errors)
    return {"line": item.line, "reason": said or result.status, "excerpt": result.external_id}


def _keep_problem(job: ImportJob, problem: dict[str, Any] | None) -> None:
    if problem and len(job.problems) < MAX_PROBLEMS:
        job.problems.append(problem)


def _move_cursor(job: ImportJob, items: int) -> bool:
    """Note how far it is; False when somebody cancelled it meanwhile."""
    job.cursor += items
    values = {"cursor": job.cursor, "result": job.result, "problems": job.problems, "seconds": job.seconds}
    own = ImportJob.objects.filter(pk=job.pk)
    if own.filter(status="running").update(beat_at=timezone.now(), **values):
        return True
    own.update(**values)
    job.refresh_from_db()
    return False


def _finish(job: ImportJob, status: str, reason: str = "") -> None:
    result = job.result | ({"reason": reason} if reason else {})
    running = ImportJob.objects.filter(pk=job.pk, status="running")
    running.update(status=status, result=result, finished_at=timezone.now(), beat_at=None)
    job.refresh_from_db()
