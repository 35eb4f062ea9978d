"""Root tasks with all that belongs to them: sub-tasks, calls, what was found wrong and who said what."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from memory.models import Failure, Outcome, Task, ToolCall

Unit = tuple[int, str]
"""A workspace and a name: the task called so, and those whose root task it is."""


class UnitTask(NamedTuple):
    """One task. ``is_fresh`` while the worker has not looked at all of it."""

    id: int
    name: str
    is_final: bool
    is_fresh: bool
    outcome: str


class UnitCall(NamedTuple):
    """One call. ``at`` never goes back within a task; ``failed``: something was found wrong with it."""

    task_id: int
    seq: int
    tool: str
    status: str
    duration_ms: float | None
    at: datetime
    failed: bool


@dataclass
class UnitTasks:
    """All of one name. ``calls`` are in the order of their time; ``said`` is who last said what of a task."""

    tasks: list[UnitTask] = field(default_factory=list)
    calls: list[UnitCall] = field(default_factory=list)
    said: dict[int, dict[str, str]] = field(default_factory=dict)

    @property
    def is_fresh(self) -> bool:
        """Whether the worker has still to look at some of it."""
        return any(task.is_fresh for task in self.tasks)

    def own(self, name: str) -> list[UnitTask]:
        """The task of that name; where it was never recorded, its sub-tasks."""
        return [task for task in self.tasks if task.name == name] or self.tasks


def load_units(units: Iterable[Unit]) -> dict[Unit, UnitTasks]:
    """These names with their tasks and calls. Five queries, however many there are."""
    wanted = set(units)
    found: dict[Unit, UnitTasks] = {unit: UnitTasks() for unit in wanted}
    places = _add_tasks(found)
    _add_calls(found, places)
    said: dict[int, dict[str, str]] = defaultdict(dict)
    rows = Outcome.objects.filter(task__in=places).order_by("pk")
    for task_id, by, result in rows.values_list("task_id", "by", "result"):
        said[task_id][by] = result
    for one in found.values():
        one.said = {task.id: said[task.id] for task in one.tasks if task.id in said}
        one.calls.sort(key=lambda call: call.at)
    return found


def _add_tasks(found: dict[Unit, UnitTasks]) -> dict[int, list[Unit]]:
    """Adds the tasks; where each belongs (a sub-task may itself be a name that is asked for)."""
    columns = ("pk", "external_id", "final", "analysed_at", "outcome", "workspace_id", "root_task")
    inside = Task.objects.filter(workspace__in={workspace for workspace, _ in found}).order_by()
    names = {name for _, name in found}
    rows = {
        row[0]: row
        for some in (inside.filter(external_id__in=names), inside.filter(root_task__in=names))
        for row in some.values_list(*columns)
    }
    places: dict[int, list[Unit]] = {}
    for pk, name, final, analysed_at, outcome, workspace_id, root in sorted(rows.values()):
        units = [unit for unit in {(workspace_id, name), (workspace_id, root)} if unit in found]
        for unit in units:
            found[unit].tasks.append(UnitTask(pk, name, final, analysed_at is None, outcome))
        if units:
            places[pk] = units
    return places


def _add_calls(found: dict[Unit, UnitTasks], places: dict[int, list[Unit]]) -> None:
    failed = set(
        Failure.objects.filter(task__in=places, call__isnull=False).values_list("call_id", flat=True)
    )
    columns = ("pk", "task_id", "seq", "tool", "status", "duration_ms", "started_at", "recorded_at")
    latest: dict[int, datetime] = {}
    rows = ToolCall.objects.filter(task__in=places).order_by("task_id", "seq")
    for pk, task_id, seq, tool, status, duration_ms, started_at, recorded_at in rows.values_list(*columns):
        at = started_at or recorded_at
        latest[task_id] = at = max(at, latest.get(task_id, at))
        call = UnitCall(task_id, seq, tool, status, duration_ms, at, pk in failed)
        for unit in places[task_id]:
            found[unit].calls.append(call)


def usual_durations(workspace_id: int, tool: str, *, before: datetime, limit: int = 500) -> list[float]:
    """How long the newest calls of a tool recorded before a moment took, in ms, shortest first. One query."""
    rows = ToolCall.objects.filter(workspace=workspace_id, tool=tool, recorded_at__lt=before)
    timed = rows.filter(duration_ms__isnull=False).order_by("-pk")
    return sorted(value for value in timed.values_list("duration_ms", flat=True)[:limit] if value is not None)
