"""Recorded calls as evidence for a rule: those that met a pattern, and a tool's newest ones."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from memory.models import ErrorPattern, Failure, Task, ToolCall
from memory.queries.contexts import HISTORY, context_of_call

MAX_HISTORY_ROWS = 5_000


@dataclass(frozen=True)
class PatternFacts:
    """An error pattern as the writer of a rule needs it."""

    uuid: UUID
    tool: str
    title: str
    error_type: str
    identifier: str
    scope: str
    status: str
    occurrence_count: int
    task_count: int
    last_seen_at: datetime


@dataclass(frozen=True)
class RecordedCall:
    """A call with what was found wrong with it ("" for a good one) and its context."""

    id: int
    task_uuid: UUID
    task_name: str
    seq: int
    tool: str
    input: Any
    message: str
    failed: bool
    context: dict[str, Any]


def list_patterns_by_uuid(*, workspace_id: int, uuids: Iterable[UUID]) -> list[PatternFacts]:
    """The workspace's patterns with these uuids, the most frequent first."""
    return _facts(ErrorPattern.objects.filter(workspace_id=workspace_id, uuid__in=list(uuids)), 100)


def list_open_patterns_of_tool(*, workspace_id: int, tool: str, limit: int = 8) -> list[PatternFacts]:
    """Patterns of a tool that no rule covers, the most frequent first."""
    return _facts(ErrorPattern.objects.uncovered().filter(workspace_id=workspace_id, tool=tool), limit)


def list_failing_calls(
    *,
    workspace_id: int,
    limit: int,
    patterns: Iterable[UUID] | None = None,
    after: bool = False,
    history: bool = False,
) -> list[RecordedCall]:
    """The newest calls that met one of the patterns (None: any), each once; one query more for history."""
    rows = Failure.objects.filter(workspace_id=workspace_id, call__isnull=False)
    if patterns is not None:
        rows = rows.filter(pattern__uuid__in=list(patterns))
    rows = rows.select_related("call", "task").order_by("-pk")
    found = {failure.call_id: failure for failure in rows[:limit]}
    calls = [failure.call for failure in found.values() if failure.call is not None]
    messages = {failure.call_id: failure.message for failure in found.values()}
    tasks = {failure.task_id: failure.task for failure in found.values()}
    return _recorded(calls, tasks, messages, after=after, history=history)


def list_recent_calls(
    *, workspace_id: int, tool: str, limit: int, after: bool = False, history: bool = False
) -> list[RecordedCall]:
    """The newest calls of a tool ("" for all tools), good and failed; one query more for history."""
    rows = ToolCall.objects.filter(workspace_id=workspace_id).select_related("task").order_by("-pk")
    if tool:
        rows = rows.filter(tool=tool)
    calls = list(rows[:limit])
    failures = Failure.objects.filter(call__in=[call.pk for call in calls]).order_by("-pk")
    messages = dict(failures.values_list("call_id", "message"))
    return _recorded(
        calls, {call.task_id: call.task for call in calls}, messages, after=after, history=history
    )


def list_calls_at(
    *, workspace_id: int, places: Iterable[tuple[UUID, int]], after: bool = False, history: bool = False
) -> dict[tuple[UUID, int], RecordedCall]:
    """The workspace's calls by task uuid and number, for tens of them; one query more for history.

    Unknown and foreign ones are left out.
    """
    ids = list(calls_at(workspace_id=workspace_id, places=places).values())
    calls = list(ToolCall.objects.filter(pk__in=ids).select_related("task"))
    failures = Failure.objects.filter(call__in=ids).order_by("-pk")
    messages = dict(failures.values_list("call_id", "message"))
    tasks = {call.task_id: call.task for call in calls}
    found = _recorded(calls, tasks, messages, after=after, history=history)
    return {(call.task_uuid, call.seq): call for call in found}


def failures_per_day(pattern_ids: Iterable[int], *, now: datetime) -> float | None:
    """How often some patterns were met on an average day since each was first seen; None without patterns."""
    rows = ErrorPattern.objects.filter(pk__in=list(pattern_ids))
    rates = [
        count / max((now - first_seen) / timedelta(days=1), 1.0)
        for count, first_seen in rows.values_list("occurrence_count", "first_seen_at")
    ]
    return sum(rates) if rates else None


def _facts(rows: QuerySet[ErrorPattern], limit: int) -> list[PatternFacts]:
    columns = tuple(PatternFacts.__dataclass_fields__)
    return [
        PatternFacts(*row) for row in rows.order_by("-occurrence_count", "-pk").values_list(*columns)[:limit]
    ]


def _recorded(
    calls: Sequence[ToolCall], tasks: dict[int, Task], messages: dict[Any, str], *, after: bool, history: bool
) -> list[RecordedCall]:
    earlier = _earlier_calls(calls) if history else {}
    return [
        RecordedCall(
            id=call.pk,
            task_uuid=tasks[call.task_id].uuid,
            task_name=tasks[call.task_id].external_id,
            seq=call.seq,
            tool=call.tool,
            input=call.input,
            message=messages.get(call.pk, ""),
            failed=call.pk in messages,
            context=context_of_call(
                call, tasks[call.task_id], _before(earlier.get(call.task_id, ()), call.seq), after=after
            ),
        )
        for call in calls
    ]


def _before(rows: Sequence[ToolCall], seq: int) -> list[ToolCall]:
    return [row for row in rows if row.seq < seq][-HISTORY:]


def _earlier_calls(calls: Sequence[ToolCall]) -> dict[int, list[ToolCall]]:
    """All calls of the tasks up to the latest one asked about, by task; one bounded query."""
    latest: dict[int, int] = {}
    for call in calls:
        latest[call.task_id] = max(latest.get(call.task_id, 0), call.seq)
    wanted = Q()
    for task_id, seq in latest.items():
        wanted |= Q(task_id=task_id, seq__lt=seq)
    rows: dict[int, list[ToolCall]] = defaultdict(list)
    if latest:
        found = (
            ToolCall.objects.filter(wanted).defer("output", "reasoning", "receipt").order_by("task_id", "seq")
        )
        for row in found[:MAX_HISTORY_ROWS]:
            rows[row.task_id].append(row)
    return rows


def calls_at(*, workspace_id: int, places: Iterable[tuple[UUID, int]]) -> dict[tuple[UUID, int], int]:
    """Ids of the workspace's calls by task uuid and number; unknown and foreign ones are left out."""
    wanted = set(places)
    rows = ToolCall.objects.filter(
        workspace_id=workspace_id,
        task__uuid__in={task for task, _seq in wanted},
        seq__in={seq for _task, seq in wanted},
    )
    found = {(task, seq): pk for task, seq, pk in rows.values_list("task__uuid", "seq", "id")}
    return {place: pk for place, pk in found.items() if place in wanted}


def patterns_of_calls(call_ids: Iterable[int]) -> list[tuple[int, UUID]]:
    """Id and uuid of the error patterns that these calls met."""
    rows = ErrorPattern.objects.filter(failures__call__in=list(call_ids)).order_by("pk").distinct()
    return list(rows.values_list("pk", "uuid"))
