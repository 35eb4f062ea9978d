"""Counting again what was counted before: after a counter was added, or when somebody doubts the numbers.

The rows are the state: a task that is to be counted again waits like any other, and its old contribution is
exchanged. So a run that is killed goes on where it was, by itself or by the worker.
"""

from collections.abc import Callable

from django.db.models import Exists, OuterRef

from memory.background.insights.counting import count_batch, waiting_insights
from memory.models import Task, TaskInsight

CHUNK = 5_000


def want_all(workspace_id: int) -> int:
    """Let every finished, analysed task of a workspace be counted again; how many wait then."""
    TaskInsight.objects.filter(workspace=workspace_id, counted_revision__gt=0).update(counted_revision=0)
    unknown = Task.objects.filter(workspace=workspace_id, final=True, analysed_at__isnull=False).filter(
        ~Exists(TaskInsight.objects.filter(task=OuterRef("pk")))
    )
    while rows := list(unknown.order_by("id").values_list("id", "revision")[:CHUNK]):
        TaskInsight.objects.bulk_create(
            [TaskInsight(task_id=pk, workspace_id=workspace_id, wanted_revision=at) for pk, at in rows],
            ignore_conflicts=True,
        )
    return count_waiting(workspace_id)


def count_waiting(workspace_id: int) -> int:
    """Tasks of a workspace that wait."""
    return waiting_insights().filter(workspace=workspace_id).count()


def count_all(workspace_id: int, progress: Callable[[int], None] = lambda done: None) -> int:
    """Count what waits in a workspace, batch by batch, beside the worker; how many were done here."""
    total = 0
    while done := count_batch(workspace_id):
        total += done
        progress(done)
    return total
