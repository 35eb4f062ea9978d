"""Finished tasks in the order in which they were analysed, for whoever learns from them.

A task that gets news is analysed again and so comes again, later in this order.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import OuterRef, Q, QuerySet, Subquery

from memory.domain.payloads import is_reference
from memory.models import Failure, Task, ToolCall, Workspace

OVERLAP = timedelta(seconds=10)
"""Analyses of parallel workers are committed in another order than they were dated, by less than this."""


class FinishedTask(NamedTuple):
    """A finished task that was analysed. ``revision`` goes up when it changes."""

    id: int
    revision: int
    analysed_at: datetime
    call_count: int
    external_id: str
    env: dict[str, Any]
    goal: str
    outcome: str

    @property
    def is_success(self) -> bool:
        """Whether somebody said that it reached its goal."""
        return self.outcome == "success"


@dataclass(frozen=True)
class FinishedCall:
    """One call of such a task. ``patterns`` are the ids of what was found wrong; empty for a good call.

    ``receipt`` is the token that it was recorded with, not checked; blank without one.
    """

    id: int
    tool: str
    input: dict[str, Any]
    message: str
    error_type: str
    patterns: tuple[int, ...]
    receipt: str = ""

    @property
    def failed(self) -> bool:
        """Whether the analysis found anything, explicit or silent."""
        return bool(self.patterns)


def newest_by_workspace() -> dict[int, datetime]:
    """When each workspace's newest finished task was analysed. One query."""
    newest = _finished(OuterRef("pk")).order_by("-analysed_at", "-id").values("analysed_at")[:1]
    rows = Workspace.objects.order_by("pk").annotate(newest=Subquery(newest)).values_list("pk", "newest")
    return {pk: moment for pk, moment in rows if moment is not None}


def list_finished(
    *, workspace_id: int, after: tuple[datetime, int], limit: int, overlap: bool
) -> list[FinishedTask]:
    """The next tasks behind a place (moment and id), oldest first; with ``overlap`` late ones before it too.

    The late ones come first and are not limited.
    """
    moment, last = after
    rows = _finished(workspace_id)
    behind = Q(analysed_at__gt=moment) | Q(analysed_at=moment, id__gt=last)
    found = list(_columns(rows.filter(behind, analysed_at__gte=moment))[:limit])
    before = Q(analysed_at__lt=moment) | Q(analysed_at=moment, id__lte=last)
    late = list(_columns(rows.filter(before, analysed_at__gte=moment - OVERLAP))) if overlap else []
    return [FinishedTask(*row) for row in (*late, *found)]


def count_finished(*, workspace_id: int, after: datetime, most: int) -> int:
    """How many finished tasks were analysed after a moment, counted up to ``most``."""
    return _finished(workspace_id).filter(analysed_at__gt=after)[:most].count()


def start_of_newest(*, workspace_id: int, calls: int) -> tuple[datetime, int] | None:
    """The place before the newest tasks that have about so many calls together; None: before all of them."""
    rows = _finished(workspace_id).order_by("-analysed_at", "-id")
    total = 0
    for moment, pk, count in rows.values_list("analysed_at", "id", "call_count")[: calls + 1].iterator():
        total += count
        if total > calls and moment is not None:
            return moment, pk
    return None


def list_finished_calls(task_ids: Iterable[int], *, most: int) -> dict[int, list[FinishedCall]]:
    """The calls of these tasks in order, at most ``most`` of each; two queries.

    A call whose input is kept apart because it is large is left out.
    """
    wanted = list(task_ids)
    faults: dict[int, list[tuple[str, str, int]]] = defaultdict(list)
    failures = Failure.objects.filter(task__in=wanted, call__isnull=False).order_by("id")
    for call_id, message, kind, pattern in failures.values_list(
        "call_id", "message", "error_type", "pattern_id"
    ):
        faults[call_id or 0].append((message, kind, pattern))
    calls: dict[int, list[FinishedCall]] = {task_id: [] for task_id in wanted}
    rows = ToolCall.objects.filter(task__in=wanted, seq__lt=most).order_by("task_id", "seq")
    columns = rows.values_list("task_id", "id", "tool", "input", "receipt")
    for task_id, pk, tool, call_input, receipt in columns:
        if isinstance(call_input, dict) and not is_reference(call_input):
            wrong = faults.get(pk, [])
            message, error_type = wrong[0][:2] if wrong else ("", "error")
            found = tuple(dict.fromkeys(pattern for _message, _type, pattern in wrong))
            calls[task_id].append(FinishedCall(pk, tool, call_input, message, error_type, found, receipt))
    return calls


def _finished(workspace: Any) -> QuerySet[Task]:
    return Task.objects.filter(workspace_id=workspace, final=True, analysed_at__isnull=False)


def _columns(rows: QuerySet[Task]) -> QuerySet[Task, tuple[Any, ...]]:
    columns = ("id", "revision", "analysed_at", "call_count", "external_id", "env", "goal", "outcome")
    return rows.order_by("analysed_at", "id").values_list(*columns)
