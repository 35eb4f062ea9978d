"""The insight pass: tasks that wait are read once, every counter's part is exchanged, all in one transaction.

``TaskInsight`` rows are the queue. A task's old contribution is taken away and its new one added in the
transaction that moves its row, if the row is still as it was read: so every revision counts exactly once,
wherever a worker is killed. One worker at a time counts in a workspace (on PostgreSQL by an advisory lock
that ends with the transaction, on SQLite by the turn of the process), so counters may read, add and write.
"""

import logging
import time
from collections.abc import Sequence

import msgspec
from django.db import OperationalError, connection, transaction
from django.db.models import Count, F, QuerySet

from memory.background.backlog import insist
from memory.background.insights.counters import COUNTERS
from memory.background.insights.loading import load_runs
from memory.background.turns import turn
from memory.domain.insights.contributions import JSON, normal, pack, unpack
from memory.domain.insights.runs import InsightRun
from memory.models import Failure, TaskInsight
from memory.queries.health import is_analysis_waiting
from memory.writer.tables import update_rows

BATCH_TASKS = 200
BATCH_CALLS = {"postgresql": 2_000, "sqlite": 300}
"""Calls of a transaction, about. On SQLite nobody else can write meanwhile, so it has to be short."""
DEADLINE_S = 1.0
DEADLINE_BUSY_S = 0.3
"""While something waits for the analysis, which is more urgent."""
LOCK_CLASS = 0x48474D49
MAX_ERROR = 2_000
log = logging.getLogger(__name__)


class Change(msgspec.Struct, frozen=True):
    """A row as it was read, its task's old and new contributions by counter, what could not be read.

    ``repeats`` of its failures were repeats.
    """

    row: TaskInsight
    old: dict[str, JSON]
    new: dict[str, JSON]
    error: str
    repeats: int


def count_backlog(deadline_s: float | None = None) -> int:
    """Count tasks until nothing waits or the time is up; how many. Workspaces take turns, batch by batch.

    Safe to run anywhere, at any time, many at once, and to kill at any moment.
    """
    allowed = deadline_s or (DEADLINE_BUSY_S if is_analysis_waiting() else DEADLINE_S)
    until = time.monotonic() + allowed
    count, last, busy = 0, 0, set[int]()
    with turn("insights") as mine:
        while mine and time.monotonic() < until:
            workspace_id = _next_workspace(last, busy)
            if workspace_id is None:
                break
            taken = count_batch(workspace_id)
            if not taken:
                busy.add(workspace_id)
            count, last = count + taken, workspace_id
    return count


def waiting_insights() -> QuerySet[TaskInsight]:
    """Tasks that are to be counted, or counted again."""
    return TaskInsight.objects.filter(counted_revision__lt=F("wanted_revision"))


def count_batch(workspace_id: int) -> int:
    """One batch of a workspace: how many tasks are done with. 0: nothing waits, or another worker is at it.

    A task that cannot be counted is found by going one by one; it is marked and what it added before stays.
    """
    try:
        return insist(lambda: _run_batch(workspace_id, BATCH_TASKS))
    except OperationalError:
        raise
    except Exception:
        log.exception("A batch of insights could not be counted; going through it one by one.")
    return _one_by_one(workspace_id)


def _next_workspace(last: int, busy: set[int]) -> int | None:
    """The next workspace with waiting tasks, in a circle."""
    waiting = waiting_insights().exclude(workspace__in=busy).order_by("workspace_id")
    homes = waiting.values_list("workspace_id", flat=True)
    return homes.filter(workspace__gt=last).first() or homes.first()


def _run_batch(workspace_id: int, most: int) -> int:
    if connection.vendor == "postgresql":
        with transaction.atomic():
            return _write(workspace_id, _read(workspace_id, most)) if _hold(workspace_id) else 0
    changes = _read(workspace_id, most)
    with transaction.atomic():
        return _write(workspace_id, changes)


def _hold(workspace_id: int) -> bool:
    """Take the workspace until the transaction ends; False when another worker has it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [LOCK_CLASS, workspace_id % (1 << 31)])
        return bool(cursor.fetchone()[0])


def _read(workspace_id: int, most: int) -> list[Change]:
    """Some of the oldest rows that wait, up to about ``BATCH_CALLS``, with what they add now."""
    waiting = waiting_insights().filter(workspace=workspace_id).select_related("task").order_by("task_id")
    chosen: list[TaskInsight] = []
    size = 0
    for row in waiting[:most]:
        if chosen and size + row.task.call_count > BATCH_CALLS[connection.vendor]:
            break
        size += row.task.call_count
        chosen.append(row)
    runs = load_runs([row.task for row in chosen])
    return [_change(row, run) for row, run in zip(chosen, runs, strict=True)]


def _change(row: TaskInsight, run: InsightRun) -> Change:
    old = unpack(bytes(row.contribution))
    new: dict[str, JSON] = {}
    problems = []
    for counter in COUNTERS:
        try:
            part = counter.contribute(run)
            if part is not None:
                new[counter.NAME] = normal(part)
        except Exception as error:
            log.exception("Counter %s cannot read task %s.", counter.NAME, run.task_uuid)
            problems.append(f"{counter.NAME}: {type(error).__name__}: {error}".replace("\0", "\ufffd"))
    repeats = sum(failure.repeat for failure in run.failures)
    return Change(row, old, new, "\n".join(problems)[:MAX_ERROR], repeats)


def _write(workspace_id: int, changes: Sequence[Change]) -> int:
    """Exchange the parts of the tasks whose row is still as it was read. Returns how many were read."""
    held = _held(changes)
    for counter in COUNTERS:
        pairs = [(change.old.get(counter.NAME), change.new.get(counter.NAME)) for change in held]
        moved = [(old, new) for old, new in pairs if old != new]
        if moved:
            removed = [old for old, _new in moved if old is not None]
            counter.apply(workspace_id, removed, [new for _old, new in moved if new is not None])
    names = ("counted_revision", "contribution", "error")
    update_rows(TaskInsight, names, [_done(change) for change in held], key="task_id")
    return len(changes)


def _held(changes: Sequence[Change]) -> list[Change]:
    """Those whose row, locked from here on, is as it was read, and whose failures repeat as was read.

    A failure may turn into a repeat (an earlier task had met its pattern) while the row waits anyway.
    """
    ids = [change.row.task_id for change in changes]
    rows = TaskInsight.objects.filter(task__in=ids).select_for_update().order_by("task_id")
    stored = dict(rows.values_list("task_id", "counted_revision"))
    repeated = Failure.objects.filter(task__in=ids, repeat=True).order_by().values("task")
    repeats = dict(repeated.annotate(n=Count("pk")).values_list("task", "n"))
    return [
        change
        for change in changes
        if stored.get(change.row.task_id) == change.row.counted_revision
        and repeats.get(change.row.task_id, 0) == change.repeats
    ]


def _done(change: Change) -> tuple[object, ...]:
    return (change.row.wanted_revision, pack(change.new), change.error, change.row.task_id)


def _one_by_one(workspace_id: int) -> int:
    """The oldest tasks, each alone; what cannot be written is marked, so that nothing waits behind it."""
    done = 0
    for _ in range(BATCH_TASKS):
        row = waiting_insights().filter(workspace=workspace_id).order_by("task_id").first()
        if row is None:
            break
        try:
            taken = _run_batch(workspace_id, 1)
        except OperationalError:
            raise
        except Exception as error:
            log.exception("Task %s cannot be counted.", row.task_id)
            mark_uncounted(row, f"{type(error).__name__}: {error}")
            taken = 1
        if not taken:
            break
        done += taken
    return done


def mark_uncounted(row: TaskInsight, reason: str) -> None:
    """Take a task out of the backlog with the reason, until it changes; what it added before stays."""
    TaskInsight.objects.filter(pk=row.pk, wanted_revision=row.wanted_revision).update(
        counted_revision=row.wanted_revision, error=reason.replace("\0", "\ufffd")[:MAX_ERROR]
    )
