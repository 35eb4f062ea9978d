"""Telling whoever watches a task that the worker has looked at it."""

from collections import defaultdict
from collections.abc import Iterable

from memory.models import Task, TaskWatch


def note_news(task_ids: Iterable[int]) -> None:
    """Mark the watches of these tasks and of their root tasks. Call it inside the analysis' transaction."""
    names: dict[int, set[str]] = defaultdict(set)
    tasks = Task.objects.filter(pk__in=list(task_ids)).order_by()
    for workspace_id, own, root in tasks.values_list("workspace_id", "external_id", "root_task"):
        names[workspace_id] |= {own, root}
    for workspace_id, units in sorted(names.items()):
        quiet = TaskWatch.objects.filter(workspace=workspace_id, unit__in=units, has_news=False)
        found = quiet.order_by("pk").select_for_update().values_list("pk", flat=True)
        TaskWatch.objects.filter(pk__in=list(found)).update(has_news=True)
