"""Recorded calls as contexts: what the agent would have told, had it asked before the call."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from memory.models import Task, ToolCall

HISTORY = 20
"""How many earlier calls of the task a context carries, the latest last."""


def call_context(
    *, workspace_id: int, task_uuid: UUID, seq: int, after: bool = False
) -> dict[str, Any] | None:
    """The context of one recorded call, or None when there is no such call in the workspace.

    ``after`` adds its output, error and duration and sets the point to ``after``.
    """
    rows = ToolCall.objects.select_related("task")
    call = rows.filter(workspace_id=workspace_id, task__uuid=task_uuid, seq=seq).first()
    if call is None:
        return None
    earlier = ToolCall.objects.filter(task=call.task, seq__lt=seq).order_by("-seq")[:HISTORY]
    return context_of_call(call, call.task, list(reversed(earlier)), after=after)


def context_of_call(
    call: ToolCall, task: Task, earlier: Sequence[ToolCall], *, after: bool
) -> dict[str, Any]:
    """What the agent would have told about a call, with its earlier calls as history."""
    context: dict[str, Any] = {
        "point": "after" if after else "before",
        "tool": {"name": call.tool, "version": call.tool_version},
        "input": call.input,
        "task": {
            "id": task.external_id,
            "root": task.root_task,
            "goal": task.goal,
            "tags": task.tags,
            "agent": task.agent,
        },
        "env": task.env,
        "history": [
            {"tool": row.tool, "input": row.input, "status": row.status, "error": row.error}
            for row in earlier
        ],
    }
    if after:
        context |= {"output": call.output, "error": call.error, "duration_ms": call.duration_ms}
    return context
