"""How the background work is doing."""

from datetime import datetime

import msgspec
from django.db.models import F

from memory.models import PathBuild, PathUse, Task, TaskInsight
from memory.models.experience import TaskQuerySet

MANY = 10_000


class Backlog(msgspec.Struct, frozen=True):
    """Tasks that wait for the worker (counted up to ``MANY``), since when, and those it could not read."""

    waiting: int
    oldest_at: datetime | None
    unreadable: int


def get_backlog(workspace_id: int | None = None) -> Backlog:
    """The backlog of a workspace, or of all."""
    tasks = _tasks_of(workspace_id)
    waiting = tasks.unanalysed()
    oldest = waiting.order_by("id").values_list("updated_at", flat=True).first()
    unreadable = tasks.exclude(analysis_error="")
    return Backlog(
        waiting=waiting.order_by()[:MANY].count(),
        oldest_at=oldest,
        unreadable=unreadable.order_by()[:MANY].count(),
    )


def is_analysis_waiting() -> bool:
    """Whether a task has something new that the worker has not looked at: long work gives way to it."""
    return Task.objects.unanalysed().exists()


def list_unreadable(workspace_id: int, *, limit: int = 20) -> list[Task]:
    """Tasks whose analysis stumbled over something, newest first; the rest of the task was analysed."""
    return list(_tasks_of(workspace_id).exclude(analysis_error="").order_by("-pk")[:limit])


def count_waiting_paths(workspace_id: int) -> int:
    """Finished tasks whose paths are to be built, counted up to ``MANY``."""
    waiting = PathBuild.objects.filter(built_revision__lt=F("wanted_revision"))
    return waiting.filter(task__workspace=workspace_id).order_by()[:MANY].count()


def list_unbuilt(workspace_id: int, *, limit: int = 20) -> list[PathBuild]:
    """Tasks whose paths could not be built, with the reason, newest first."""
    rows = PathBuild.objects.exclude(error="").filter(task__workspace=workspace_id)
    return list(rows.select_related("task").order_by("-task_id")[:limit])


def count_waiting_insights(workspace_id: int) -> int:
    """Finished tasks that the insights do not show yet, counted up to ``MANY``."""
    waiting = TaskInsight.objects.filter(counted_revision__lt=F("wanted_revision"))
    return waiting.filter(workspace=workspace_id).order_by()[:MANY].count()


def list_uncounted(workspace_id: int, *, limit: int = 20) -> list[TaskInsight]:
    """Tasks that a counter could not read or write, with the reason, newest first."""
    rows = TaskInsight.objects.exclude(error="").alias(home=F("workspace_id") + 0).filter(home=workspace_id)
    return list(rows.select_related("task").defer("contribution").order_by("-task_id")[:limit])


def list_unsettled(workspace_id: int, *, limit: int = 20) -> list[PathUse]:
    """Reuses of paths that could not be settled, with the reason, newest first."""
    rows = PathUse.objects.exclude(error="").alias(home=F("workspace_id") + 0).filter(home=workspace_id)
    return list(rows.select_related("path").order_by("-pk")[:limit])


def _tasks_of(workspace_id: int | None) -> TaskQuerySet:
    """The workspace's tasks, written so that the planner starts from the small partial indexes.

    SQLite would walk all tasks of the workspace instead: 60 to 110 ms at 100,000 tasks against 0.1.
    """
    if workspace_id is None:
        return Task.objects.all()
    return Task.objects.alias(home=F("workspace_id") + 0).filter(home=workspace_id)
