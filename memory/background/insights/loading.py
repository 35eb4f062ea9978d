"""From the rows of finished tasks to the snapshots that counters read. Four queries, however many tasks."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC
from typing import Any

from memory.domain.insights.runs import MAX_CALLS, MAX_MS, InsightCall, InsightFailure, InsightRun
from memory.models import Failure, Task, ToolCall

CALL_FIELDS = ("task_id", "id", "seq", "tool", "input", "status", "duration_ms", "started_at", "recorded_at")
FAILURE_FIELDS = (
    "task_id", "call_id", "call__seq", "pattern_id", "pattern__uuid", "pattern__tool", "error_type", "source",
    "repeat", "happened_at",
)  # fmt: skip


def load_runs(tasks: Sequence[Task]) -> list[InsightRun]:
    """The snapshots of these tasks, in order."""
    failures = _failures(tasks)
    calls = _calls(tasks, failures)
    return [_run(task, calls[task.pk], failures[task.pk]) for task in tasks]


def _run(
    task: Task, calls: list[InsightCall], failures: list[tuple[int | None, InsightFailure]]
) -> InsightRun:
    ended_at = task.finished_at or task.updated_at
    env = task.env if isinstance(task.env, dict) else {}
    domain = env.get("domain")
    tags = task.tags if isinstance(task.tags, list) else []
    return InsightRun(
        task_id=task.pk,
        task_uuid=str(task.uuid),
        workspace_id=task.workspace_id,
        external_id=task.external_id,
        root_task=task.root_task,
        goal=task.goal,
        tags=tuple(tag for tag in tags if isinstance(tag, str)),
        agent=task.agent,
        domain=domain[:200] if isinstance(domain, str) else "",
        outcome=task.outcome,
        reward=task.reward,
        day=ended_at.astimezone(UTC).date(),
        ended_at=ended_at,
        calls=tuple(calls),
        failures=tuple(failure for _call, failure in failures),
        left_out=max(0, task.call_count - len(calls)),
    )


def _failures(tasks: Sequence[Task]) -> dict[int, list[tuple[int | None, InsightFailure]]]:
    """What was found wrong, by task in the order in which it was found, each with the id of its call."""
    found: dict[int, list[tuple[int | None, InsightFailure]]] = defaultdict(list)
    rows = Failure.objects.filter(task__in=tasks).order_by("id").values_list(*FAILURE_FIELDS)
    for task, call, seq, pattern, uuid, tool, kind, source, repeat, at in rows:
        failure = InsightFailure(pattern, str(uuid), seq, tool, kind, source, repeat, at)
        found[task].append((call, failure))
    return found


def _calls(
    tasks: Sequence[Task], failures: dict[int, list[tuple[int | None, InsightFailure]]]
) -> dict[int, list[InsightCall]]:
    """Calls by task, in order; of a huge task the first ``MAX_CALLS``."""
    patterns: dict[int | None, list[int]] = defaultdict(list)
    for found in failures.values():
        for call, failure in found:
            patterns[call].append(failure.pattern)
    calls: dict[int, list[InsightCall]] = defaultdict(list)
    small = [task.pk for task in tasks if task.call_count <= MAX_CALLS]
    for row in ToolCall.objects.filter(task__in=small).order_by("task_id", "seq").values_list(*CALL_FIELDS):
        calls[row[0]].append(_call(row, patterns))
    for task in tasks:
        if task.call_count > MAX_CALLS:
            rows = ToolCall.objects.filter(task=task).order_by("seq").values_list(*CALL_FIELDS)
            calls[task.pk] = [_call(row, patterns) for row in rows[:MAX_CALLS]]
    return calls


def _call(row: tuple[Any, ...], patterns: dict[int | None, list[int]]) -> InsightCall:
    _task, pk, seq, tool, given, status, duration_ms, started_at, recorded_at = row
    return InsightCall(
        seq=seq,
        tool=tool,
        input=given if isinstance(given, dict) else {},
        status=status,
        duration_ms=None if duration_ms is None else min(duration_ms, MAX_MS),
        at=started_at or recorded_at,
        patterns=tuple(dict.fromkeys(patterns.get(pk, ()))),
    )
