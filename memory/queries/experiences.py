"""Reading recorded experience: the list of tasks, and one task with all that is known about it."""

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from django.db.models import F

from memory.models import Failure, Outcome, Payload, Step, Task, ToolCall
from memory.models.experience import TaskQuerySet

CALLS_A_PAGE = 500


class TaskSummary(msgspec.Struct, frozen=True):
    """A task as lists show it. ``is_analysed`` false: the worker has not looked at its latest news yet."""

    uuid: UUID
    external_id: str
    root_task: str
    goal: str
    tags: list[str]
    agent: str
    framework: str
    final: bool
    outcome: str
    reward: float | None
    outcome_by: str
    call_count: int
    failure_count: int
    is_analysed: bool
    started_at: datetime | None
    finished_at: datetime | None
    received_at: datetime


class StepView(msgspec.Struct, frozen=True):
    """A turn of the agent with reasoning of its own."""

    index: int
    reasoning: str


class CallView(msgspec.Struct, frozen=True):
    """One tool call. A ``{"$payload": digest, ...}`` in it stands for ``GET payloads/{digest}``."""

    seq: int
    step: int
    tool: str
    tool_version: str
    input: Any
    output: Any
    status: str
    error: Any
    duration_ms: float | None
    reasoning: str
    receipt: str
    started_at: datetime | None


class OutcomeView(msgspec.Struct, frozen=True):
    """One statement about how the task ended."""

    result: str
    reward: float | None
    by: str
    actor: str
    note: str
    said_at: datetime


class FailureView(msgspec.Struct, frozen=True):
    """One thing that went wrong; ``call_seq`` is null where the task failed as a whole."""

    uuid: UUID
    call_seq: int | None
    source: str
    error_type: str
    message: str
    http_status: int | None
    pattern: UUID
    pattern_title: str
    repeat: bool
    happened_at: datetime


class TaskDetail(msgspec.Struct, frozen=True):
    """A task with its steps, outcomes, failures and a page of its calls.

    ``next_after_seq`` is null on the last page of calls, else the ``after_seq`` of the next one.
    """

    task: TaskSummary
    env: dict[str, Any]
    redactions: dict[str, int]
    analysis_error: str
    steps: list[StepView]
    calls: list[CallView]
    next_after_seq: int | None
    outcomes: list[OutcomeView]
    failures: list[FailureView]


def list_tasks(workspace_id: int) -> TaskQuerySet:
    """All tasks of the workspace, newest first."""
    return Task.objects.filter(workspace_id=workspace_id)


def summarize(task: Task) -> TaskSummary:
    """A row as lists show it."""
    return TaskSummary(
        uuid=task.uuid,
        external_id=task.external_id,
        root_task=task.root_task,
        goal=task.goal,
        tags=task.tags,
        agent=task.agent,
        framework=task.framework,
        final=task.final,
        outcome=task.outcome,
        reward=task.reward,
        outcome_by=task.outcome_by,
        call_count=task.call_count,
        failure_count=task.failure_count,
        is_analysed=task.analysed_at is not None,
        started_at=task.started_at,
        finished_at=task.finished_at,
        received_at=task.received_at,
    )


def find_task(workspace_id: int, uuid: UUID) -> Task:
    """One task of the workspace. Raises Task.DoesNotExist, also for another workspace's task."""
    return Task.objects.get(workspace_id=workspace_id, uuid=uuid)


def get_task_detail(workspace_id: int, uuid: UUID, *, after_seq: int = -1) -> TaskDetail:
    """Everything about one task, in five queries. Raises Task.DoesNotExist."""
    task = find_task(workspace_id, uuid)
    calls = _list_calls(task, after_seq)
    return TaskDetail(
        task=summarize(task),
        env=task.env,
        redactions=task.redactions,
        analysis_error=task.analysis_error,
        steps=[StepView(*row) for row in Step.objects.filter(task=task).values_list("index", "reasoning")],
        calls=calls[:CALLS_A_PAGE],
        next_after_seq=calls[CALLS_A_PAGE - 1].seq if len(calls) > CALLS_A_PAGE else None,
        outcomes=_list_outcomes(task),
        failures=_list_failures(task),
    )


def get_payload(workspace_id: int, digest: str) -> Payload:
    """A large value of the workspace. Raises Payload.DoesNotExist."""
    return Payload.objects.get(workspace_id=workspace_id, digest=digest)


def _list_calls(task: Task, after_seq: int) -> list[CallView]:
    rows = ToolCall.objects.filter(task=task, seq__gt=after_seq).order_by("seq")
    return [CallView(*row) for row in rows.values_list(*CallView.__struct_fields__)[: CALLS_A_PAGE + 1]]


def _list_outcomes(task: Task) -> list[OutcomeView]:
    rows = Outcome.objects.filter(task=task).order_by("id")
    return [OutcomeView(*row) for row in rows.values_list(*OutcomeView.__struct_fields__)]


def _list_failures(task: Task) -> list[FailureView]:
    rows = Failure.objects.filter(task=task).order_by(F("call__seq").asc(nulls_last=True), "id")
    return [
        FailureView(*row)
        for row in rows.values_list(
            "uuid", "call__seq", "source", "error_type", "message", "http_status", "pattern__uuid",
            "pattern__title", "repeat", "happened_at",
        )[:CALLS_A_PAGE]
    ]  # fmt: skip
