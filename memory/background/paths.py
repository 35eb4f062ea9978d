"""Path building: from the rows of finished tasks, in batches, as often as anybody likes.

``PathBuild`` rows are the queue. A batch is read, built and embedded outside the transaction that writes it,
and its rows are moved in that transaction, if they still are as they were read: so a killed worker leaves
them as they were, and of two workers at one task only the first writes.
"""

import logging
import random
from collections.abc import Sequence

from django.db import OperationalError, connection, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from memory.background.backlog import insist, work_through
from memory.background.bell import ring
from memory.background.path_runs import load_runs
from memory.background.path_sync import Built, sync_paths
from memory.domain.paths.building import build_paths
from memory.live.index import draft_entries
from memory.models import PathBuild

BATCH_TASKS = 50
BATCH_CALLS = 1_000
SPREAD = 8
DEADLINE_S = 5.0
log = logging.getLogger(__name__)


def build_backlog(deadline_s: float = DEADLINE_S) -> int:
    """Build paths until nothing waits or the time is up; of how many tasks.

    Safe to run anywhere, at any time, many at once, and to kill at any moment.
    """
    count, may_wait = work_through("paths", _build_batch, deadline_s)
    if count and may_wait:
        ring()
    return count


def waiting_builds() -> QuerySet[PathBuild]:
    """Finished tasks whose paths are to be made, oldest first."""
    return PathBuild.objects.filter(built_revision__lt=F("wanted_revision")).order_by("task_id")


def _build_batch() -> tuple[int, int]:
    """One batch: all tasks that were taken are done with. A bad one is found by going one by one."""
    try:
        taken = insist(_run_batch)
    except OperationalError:
        raise
    except Exception:
        log.exception("The paths of a batch could not be built; going through it one by one.")
        taken = _one_by_one()
    return taken, taken


def _run_batch() -> int:
    claimed = _claim()
    built = _build(claimed)
    with transaction.atomic():
        return _write(claimed, built)


def _claim() -> list[PathBuild]:
    """Some of the oldest rows that wait, up to about ``BATCH_CALLS`` calls.

    On PostgreSQL many workers are at it: each starts somewhere else, so that they rarely do the same.
    """
    ids = list(waiting_builds().values_list("task_id", flat=True)[: BATCH_TASKS * SPREAD])
    last_start = max(0, len(ids) - BATCH_TASKS) if connection.vendor == "postgresql" else 0
    start = random.randrange(last_start + 1)  # noqa: S311 - nothing secret
    chosen: list[PathBuild] = []
    size = 0
    rows = PathBuild.objects.filter(task__in=ids[start : start + BATCH_TASKS]).select_related("task")
    for row in rows.order_by("task_id"):
        if chosen and size + row.task.call_count > BATCH_CALLS:
            break
        size += row.task.call_count
        chosen.append(row)
    return chosen


def _build(claimed: Sequence[PathBuild]) -> list[Built]:
    tasks = [row.task for row in claimed]
    variants = [build_paths(run) for run in load_runs(tasks)]
    drafts = draft_entries(variant.doc for found in variants for variant in found)
    return [Built(task, found, drafts) for task, found in zip(tasks, variants, strict=True)]


def _write(claimed: Sequence[PathBuild], built: Sequence[Built]) -> int:
    """Write the paths of the tasks whose row is still as it was read. Returns how many were claimed."""
    ids = [row.task_id for row in claimed]
    rows = PathBuild.objects.filter(task__in=ids).select_for_update().order_by("task_id")
    marks = dict(rows.values_list("task_id", "built_revision"))
    held = [row for row in claimed if marks.get(row.task_id) == row.built_revision]
    names = {row.task_id for row in held}
    sync_paths([item for item in built if item.task.pk in names], timezone.now())
    for row in held:
        row.built_revision, row.error = row.wanted_revision, ""
    PathBuild.objects.bulk_update(held, ["built_revision", "error"])
    return len(claimed)


def _one_by_one() -> int:
    """The oldest tasks, each alone; what cannot be built is marked, so that nothing waits behind it."""
    rows = list(waiting_builds().select_related("task")[:BATCH_TASKS])
    for row in rows:
        try:
            built = _build([row])
            with transaction.atomic():
                _write([row], built)
        except OperationalError:
            raise
        except Exception as error:
            log.exception("The paths of task %s cannot be built.", row.task.uuid)
            mark_unbuilt(row, f"{type(error).__name__}: {error}")
    return len(rows)


def mark_unbuilt(row: PathBuild, reason: str) -> None:
    """Take a task out of the backlog with the reason, until it changes."""
    PathBuild.objects.filter(pk=row.pk, wanted_revision=row.wanted_revision).update(
        built_revision=row.wanted_revision, error=reason[:2_000]
    )
