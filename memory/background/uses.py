"""What paths learn from the tasks that followed them, each use exactly once however many workers there are.

The outbox is ``PathUse.is_due``: :mod:`memory.background.outcomes` marks a row when its task's outcome is
known, and again when that changes. Then what the path had learnt from it is put right.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from django.db import OperationalError, connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from memory.background.outcomes import Ended, ended_tasks, what_counts
from memory.background.rewriting import Wish, want_rewrite
from memory.domain.rewards import correct, learn
from memory.models import Failure, Lineage, Path, PathUse, RewardChange
from memory.writer.entries import touch_entries

BATCH = 200
MAX_ERROR = 2_000
log = logging.getLogger(__name__)


def settle_backlog(batch: int = BATCH) -> int:
    """Settle every use that has news; how many."""
    total = 0
    while done := _settle_some(batch):
        total += done
    return total


def _settle_some(batch: int) -> int:
    """A batch; when it cannot be settled, one by one, and what cannot keeps the reason on its row."""
    try:
        return settle_uses(batch)
    except OperationalError:  # the database is away or busy: the rows wait
        raise
    except Exception:
        log.exception("A batch of uses could not be settled; going through it one by one.")
    waiting = list(PathUse.objects.filter(is_due=True).order_by("pk").values_list("pk", flat=True)[:batch])
    for pk in waiting:
        try:
            settle_uses(1, only=pk)
        except OperationalError:
            raise
        except Exception as error:
            log.exception("Use %s cannot be settled.", pk)
            reason = f"{type(error).__name__}: {error}".replace("\x00", "\ufffd")[:MAX_ERROR]
            PathUse.objects.filter(pk=pk).update(is_due=False, error=reason)
    return len(waiting)


@transaction.atomic
def settle_uses(limit: int, *, only: int | None = None) -> int:
    """Let the paths of up to ``limit`` uses learn what came of them; how many uses were looked at."""
    due = (
        PathUse.objects.filter(is_due=True) if only is None else PathUse.objects.filter(is_due=True, pk=only)
    )
    uses = list(_locked(due.order_by("pk"))[:limit])
    if not uses:
        return 0
    tasks = {task.id: task for task in ended_tasks(use.task_id for use in uses if use.task_id)}
    settling = _Settling({use.path_id for use in uses}, timezone.now())
    for use in sorted(uses, key=lambda use: (use.settled_at is None, use.pk)):  # corrections first
        settling.take(use, tasks.get(use.task_id or 0))
    settling.write(uses)
    settling.ask_for_rewrites()
    return len(uses)


class _Settling:
    """One batch: its paths are locked after their lineages, in the order of their ids."""

    def __init__(self, path_ids: set[int], now: datetime) -> None:
        self._now = now
        versions = Lineage.objects.filter(versions__in=path_ids)
        lineages = Lineage.objects.filter(pk__in=versions.values("pk")).order_by("pk")
        self._lineages = list(lineages.select_for_update(no_key=True))
        paths = Path.objects.filter(pk__in=path_ids).order_by("pk")
        self._paths = {path.pk: path for path in paths.select_for_update(no_key=True)}
        self._changes: list[RewardChange] = []
        self._fruitful: set[int] = set()
        self._failed: list[PathUse] = []
        self._learnt: set[int] = set()

    def take(self, use: PathUse, task: Ended | None) -> None:
        use.is_due, use.error = False, ""
        result, observed = what_counts(use, task)
        path = self._paths[use.path_id]
        if observed is None or (result, observed) == (use.result, use.reward):
            return
        reward = path.reward
        if path.result != "template":  # a template stays at 0 and is recalled last
            reward = self._reward(path, use, observed)
        self._count(path, use, result)
        self._explain(path, use, result, reward)
        path.reward, path.updated_at = reward, self._now
        self._learnt.add(path.pk)
        use.result, use.reward, use.settled_at = result, observed, use.settled_at or self._now
        if result == "success":
            self._fruitful.add(path.lineage_id)
        else:
            self._failed.append(use)

    def _reward(self, path: Path, use: PathUse, observed: float) -> float:
        if use.settled_at is None or use.reward is None:
            return learn(path.reward, observed)
        later = PathUse.objects.filter(path=path, settled_at__isnull=False).filter(
            Q(settled_at__gt=use.settled_at) | Q(settled_at=use.settled_at, pk__gt=use.pk)
        )
        return correct(path.reward, was=use.reward, now=observed, later_uses=later.count())

    def _count(self, path: Path, use: PathUse, result: str) -> None:
        path.use_count += use.settled_at is None
        path.success_count += (result == "success") - (use.result == "success")
        if use.settled_at is None and path.result == "pending":
            use.decided = True
        if use.decided:
            path.result = result

    def _explain(self, path: Path, use: PathUse, result: str, reward: float) -> None:
        if reward == path.reward:
            return
        word = "corrected to " if use.settled_at else ""
        reason = f"{use.task_name}: {word}{result}"
        self._changes.append(
            RewardChange(
                path=path, old=path.reward, new=reward, cause="use", reason=reason, task_id=use.task_id,
                changed_at=self._now,
            )
        )  # fmt: skip

    def write(self, uses: list[PathUse]) -> None:
        PathUse.objects.bulk_update(uses, ["result", "reward", "is_due", "decided", "error", "settled_at"])
        changed = [self._paths[pk] for pk in sorted(self._learnt)]
        fields = ["use_count", "success_count", "reward", "result", "updated_at"]
        Path.objects.bulk_update(changed, fields)
        RewardChange.objects.bulk_create(self._changes)
        by_workspace: dict[int, list[int]] = defaultdict(list)
        for path in changed:
            by_workspace[path.workspace_id].append(path.pk)
        for workspace_id, path_ids in sorted(by_workspace.items()):
            touch_entries(workspace_id, path_ids)
        Lineage.objects.filter(pk__in=self._fruitful).update(fruitless_rewrites=0)

    def ask_for_rewrites(self) -> None:
        """A path that a task followed and failed with is worth a rewrite."""
        failures = _failures_of(use.task_id for use in self._failed)
        for use in self._failed:
            failure = failures.get(use.task_id or 0)
            reason = f"Task {use.task_name} followed it and failed"
            reason += f": {failure.message}" if failure and failure.message else "."
            want_rewrite(
                self._paths[use.path_id],
                trigger="reuse",
                wish=Wish(reason=reason, cause=use.task_name),
                task=use.task,
                failure=failure,
                localization=use.localization,
            )


def _failures_of(task_ids: Iterable[int | None]) -> dict[int, Failure]:
    """The last failure of each of these tasks."""
    rows = Failure.objects.filter(task__in=[pk for pk in task_ids if pk is not None])
    return {row.task_id: row for row in rows.order_by("pk")}


def _locked(rows: QuerySet[PathUse]) -> QuerySet[PathUse]:
    """Another worker's rows are skipped where the database can; on SQLite the transaction is the lock."""
    if connection.features.has_select_for_update_skip_locked:
        return rows.select_for_update(skip_locked=True)
    return rows
