"""How tasks ended, noted where they asked the path memory or followed a path.

``mark_outcomes`` runs in the transaction of a task's analysis. It settles localizations and only marks uses
(``is_due``): what their paths learn is work for :mod:`memory.background.uses`.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec
from django.db import transaction
from django.db.models import Exists, OuterRef

from memory.domain.rewards import KNOWN_RESULTS, observed_reward, result_of_use
from memory.models import Localization, PathUse, Task
from memory.queries.paging import id_after

STRAGGLERS = 20_000
"""So many of the newest waiting rows are looked at again."""


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
    for task in ended_tasks(task_ids):
        by_workspace[task.workspace_id][task.name] = task
    for workspace_id, tasks in sorted(by_workspace.items()):
        _mark_localizations(workspace_id, tasks)
        _mark_uses(workspace_id, tasks)


def ended_tasks(task_ids: Iterable[int]) -> list[Ended]:
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


def mark_stragglers() -> int:
    """Newest rows whose task ended unseen (asked and ended in one instant); how many tasks.

    The analysis marks rows as it goes; this finds what a transaction that was still open kept from it.
    """
    names: dict[int, set[str]] = defaultdict(set)
    for rows in (
        PathUse.objects.filter(result="unknown", is_due=False),
        Localization.objects.filter(outcome="unknown").exclude(task_name=""),
    ):
        ended = rows.filter(pk__gte=id_after(rows, STRAGGLERS)).filter(_has_ended())
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
