"""What came of the paths that were followed: uses and localizations whose task has an outcome now.

``mark_outcomes`` runs in the transaction of a task's analysis and only marks rows; ``settle_uses`` takes the
marked ones (``is_due``), each exactly once however many workers there are, and lets their paths learn. A
later, different outcome marks the row again, and what the path had learnt from it is put right.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from memory.domain.rewards import KNOWN_RESULTS, correct, learn, observed_reward, result_of_use
from memory.models import Lineage, Localization, Path, PathUse, RewardChange, Task
from memory.writer.entries import touch_entries

log = logging.getLogger(__name__)
BATCH = 200
STRAGGLERS = 20_000


class Ended(msgspec.Struct, frozen=True):
    """A task that ended, and how."""

    id: int
    workspace_id: int
    name: str
    outcome: str
    reward: float | None


def mark_outcomes(task_ids: Sequence[int]) -> None:
    """Note the outcomes of these tasks where they were asked about or followed a path.

    Call it inside the transaction that looked at the tasks.
    """
    by_workspace: dict[int, dict[str, Ended]] = defaultdict(dict)
    for task in _ended(task_ids):
        by_workspace[task.workspace_id][task.name] = task
    for workspace_id, tasks in sorted(by_workspace.items()):
        _mark_localizations(workspace_id, tasks)
        _mark_uses(workspace_id, tasks)


def _ended(task_ids: Iterable[int]) -> list[Ended]:
    rows = Task.objects.filter(pk__in=task_ids, outcome__in=KNOWN_RESULTS)
    return [Ended(*row) for row in rows.values_list("pk", "workspace_id", "external_id", "outcome", "reward")]


def _mark_localizations(workspace_id: int, tasks: dict[str, Ended]) -> None:
    """Those that waited, and those that were told something else before."""
    rows = Localization.objects.filter(workspace=workspace_id, task_name__in=tasks)
    changed: dict[tuple[int, str], list[int]] = defaultdict(list)
    for pk, name, outcome in rows.order_by().values_list("pk", "task_name", "outcome"):
        task = tasks[name]
        if task.outcome != outcome:
            changed[task.id, task.outcome].append(pk)
    for (task_id, outcome), pks in sorted(changed.items()):
        Localization.objects.filter(pk__in=pks).update(task=task_id, outcome=outcome)


def _mark_uses(workspace_id: int, tasks: dict[str, Ended]) -> None:
    rows = PathUse.objects.filter(workspace=workspace_id, task_name__in=tasks)
    due: dict[int, list[int]] = defaultdict(list)
    for use in rows.order_by("pk"):
        task = tasks[use.task_name]
        if use.task_id != task.id or (use.result, use.reward) != what_counts(use, task):
            due[task.id].append(use.pk)
    for task_id, pks in sorted(due.items()):
        PathUse.objects.filter(pk__in=pks).update(task=task_id, is_due=True)


def what_counts(use: PathUse, task: Ended | None) -> tuple[str, float | None]:
    """The result of a use and what was observed (0..1; None while the result is unknown)."""
    result = result_of_use(use.said_result, task.outcome if task else "unknown")
    if result not in KNOWN_RESULTS:
        return "unknown", None
    said_alone = use.said_result == result and (task is None or result != task.outcome)
    reward = use.said_reward if said_alone or task is None else task.reward
    if reward is None and use.said_result == result:
        reward = use.said_reward
    return result, observed_reward(result, reward)


def settle_backlog(batch: int = BATCH) -> int:
    """Settle every use that has news; how many."""
    total = 0
    while done := settle_uses(batch):
        total += done
    return total


@transaction.atomic
def settle_uses(limit: int) -> int:
    """Let the paths of up to ``limit`` uses learn what came of them; how many uses were looked at."""
    uses = list(_locked(PathUse.objects.filter(is_due=True).order_by("pk"))[:limit])
    if not uses:
        return 0
    tasks = {task.id: task for task in _ended(use.task_id for use in uses if use.task_id)}
    settling = _Settling({use.path_id for use in uses}, timezone.now())
    for use in sorted(uses, key=lambda use: (use.settled_at is None, use.pk)):  # corrections first
        settling.take(use, tasks.get(use.task_id or 0))
    settling.write(uses)
    return len(uses)


class _Settling:
    """One batch: its paths are locked after their lineages, in the order of their ids."""

    def __init__(self, path_ids: set[int], now: datetime) -> None:
        lineages = Lineage.objects.filter(versions__in=path_ids)
        self._now = now
        self._lineages = list(
            Lineage.objects.filter(pk__in=lineages.values("pk")).order_by("pk").select_for_update()
        )
        self._paths = {
            path.pk: path for path in Path.objects.filter(pk__in=path_ids).order_by("pk").select_for_update()
        }
        self._changes: list[RewardChange] = []
        self._fruitful: set[int] = set()
        self._failed: list[PathUse] = []
        self._learnt: set[int] = set()

    def take(self, use: PathUse, task: Ended | None) -> None:
        use.is_due = False
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
        PathUse.objects.bulk_update(uses, ["result", "reward", "is_due", "decided", "settled_at"])
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


def mark_stragglers() -> int:
    """Newest rows whose task ended unseen (asked and ended in one instant); how many tasks.

    The analysis marks rows as it goes; this finds what a transaction that was still open kept from it.
    """
    names: dict[int, set[str]] = defaultdict(set)
    for rows in (
        PathUse.objects.filter(result="unknown", is_due=False),
        Localization.objects.filter(outcome="unknown").exclude(task_name=""),
    ):
        floor = next(iter(rows.order_by("-pk").values_list("pk", flat=True)[STRAGGLERS : STRAGGLERS + 1]), 0)
        ended = rows.filter(pk__gte=floor).filter(_has_ended())
        for workspace_id, name in ended.values_list("workspace", "task_name"):
            names[workspace_id].add(name)
    found = [pk for workspace_id, wanted in sorted(names.items()) for pk in _named(workspace_id, wanted)]
    with transaction.atomic():
        mark_outcomes(found)
    return len(found)


def _named(workspace_id: int, names: set[str]) -> list[int]:
    rows = Task.objects.filter(workspace=workspace_id, external_id__in=names)
    return list(rows.values_list("pk", flat=True))


def _has_ended() -> Exists:
    tasks = Task.objects.filter(workspace=OuterRef("workspace"), external_id=OuterRef("task_name"))
    return Exists(tasks.filter(outcome__in=KNOWN_RESULTS))


def _locked(rows: QuerySet[PathUse]) -> QuerySet[PathUse]:
    """Another worker's rows are skipped where the database can; on SQLite the transaction is the lock."""
    if connection.features.has_select_for_update_skip_locked:
        return rows.select_for_update(skip_locked=True)
    return rows
