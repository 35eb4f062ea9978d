"""Tasks: the list with its filters, and one task with everything that is known about it."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from memory.models import Failure, Outcome, Task, Tool, ToolCall, Workspace
from memory.queries.json_lists import holding
from memory.queries.paging import Page, newest_first, newest_matching

RARE_CALLS = 20_000
"""Up to so many calls of a tool, its tasks are found from the calls; above, the calls from the tasks."""
CALLS_PER_PAGE = 100


@dataclass(frozen=True)
class TaskFilters:
    """What the list is narrowed to. Empty means everything."""

    outcome: str = ""
    agent: str = ""
    tool: str = ""
    tag: str = ""
    text: str = ""
    since: datetime | None = None
    until: datetime | None = None

    @property
    def needs_scan(self) -> bool:
        """Whether a filter is set that no index answers."""
        return bool(self.agent or self.tag or self.text)


def list_tasks(workspace: Workspace, filters: TaskFilters, cursor: str) -> Page[Task]:
    """Newest first. A filter without an index looks through a window of them and says where it stopped."""
    rows = _within(Task.objects.filter(workspace=workspace), filters, workspace)
    if not filters.needs_scan:
        return newest_first(rows, cursor)
    return newest_matching(rows, lambda window: _matching(window, filters), cursor)


def _within(rows: QuerySet[Task], filters: TaskFilters, workspace: Workspace) -> QuerySet[Task]:
    """The filters that an index answers."""
    if filters.outcome:
        rows = rows.filter(outcome=filters.outcome)
    if filters.tool:
        rows = with_tool(rows, workspace.pk, filters.tool)
    if filters.since:
        rows = rows.filter(received_at__gte=filters.since)
    if filters.until:
        rows = rows.filter(received_at__lt=filters.until)
    return rows


def with_tool(rows: QuerySet[Task], workspace_id: int, tool: str) -> QuerySet[Task]:
    """Tasks that called the tool.

    Looking for a common tool from the newest task on finds a page soon; for a rare one it would walk through
    all tasks, so those start from its calls.
    """
    calls = ToolCall.objects.filter(workspace=workspace_id, tool=tool)
    tools = Tool.objects.filter(workspace=workspace_id, name=tool)
    if (tools.values_list("call_count", flat=True).first() or 0) <= RARE_CALLS:
        return rows.filter(pk__in=calls.values("task_id"))
    return rows.filter(Exists(ToolCall.objects.filter(task=OuterRef("pk"), tool=tool)))


def _matching(rows: QuerySet[Task], filters: TaskFilters) -> QuerySet[Task]:
    """The filters that have to look at each row."""
    if filters.agent:
        rows = rows.filter(agent=filters.agent)
    if filters.tag:
        rows = holding(rows, "tags", filters.tag)
    if filters.text:
        rows = saying(rows, filters.text)
    return rows


def saying(rows: QuerySet[Task], text: str) -> QuerySet[Task]:
    """Tasks whose goal or external id contains the text."""
    return rows.filter(Q(goal__icontains=text) | Q(external_id__icontains=text))


@dataclass(frozen=True)
class Entry:
    """A call on the timeline. ``reasoning`` is the turn's own, shown with its first call."""

    call: ToolCall
    failures: list[Failure]
    reasoning: str = ""


@dataclass(frozen=True)
class Timeline:
    """One page of a task's calls with what belongs to them, and what was said about the task."""

    entries: list[Entry]
    next_seq: int | None
    task_failures: list[Failure]
    outcomes: list[Outcome]


def task_timeline(task: Task, *, after: int = -1, size: int = CALLS_PER_PAGE) -> Timeline:
    """``size`` calls after ``after`` (a seq) with their steps and failures. Four queries."""
    calls = list(task.calls.filter(seq__gt=after).order_by("seq")[: size + 1])
    next_seq = calls[size - 1].seq if len(calls) > size else None
    calls = calls[:size]
    failures = _failures_of(task, calls)
    reasoning = _reasoning_of(task, calls)
    entries = [Entry(call, failures.get(call.pk, []), reasoning.pop(call.step, "")) for call in calls]
    return Timeline(entries, next_seq, failures.get(None, []), list(task.outcomes.order_by("-id")))


def _failures_of(task: Task, calls: list[ToolCall]) -> dict[int | None, list[Failure]]:
    """Failures by call id; those of the task as a whole under None."""
    rows = task.failures.filter(Q(call=None) | Q(call__in=[call.pk for call in calls]))
    found: dict[int | None, list[Failure]] = {}
    for failure in rows.select_related("pattern", "validator").order_by("pk"):
        found.setdefault(failure.call_id, []).append(failure)
    return found


def _reasoning_of(task: Task, calls: list[ToolCall]) -> dict[int, str]:
    """What the agent thought in the turns of these calls, by turn."""
    turns = {call.step for call in calls}
    return dict(task.steps.filter(index__in=turns).values_list("index", "reasoning"))


def list_agents(workspace: Workspace, *, look_at: int = 500) -> list[str]:
    """Agents of the newest tasks, for the filter's suggestions."""
    newest = (
        Task.objects.filter(workspace=workspace).order_by("-pk").values_list("agent", flat=True)[:look_at]
    )
    return sorted({agent for agent in newest if agent})


def find_task(workspace: Workspace, uuid: UUID) -> Task | None:
    """The task, or None for an unknown or foreign one."""
    return Task.objects.filter(workspace=workspace, uuid=uuid).first()
