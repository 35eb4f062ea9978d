"""From the rows of finished tasks to what path building looks at."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from memory.domain.paths.runs import Run, RunCall, RunFailure
from memory.domain.payloads import is_reference
from memory.models import Failure, Outcome, Step, Task, ToolCall

HEAD, TAIL = 240, 160
"""Calls that are read of a task with more than both together."""
CALL_FIELDS = (
    "task_id", "id", "seq", "step", "tool", "input", "output", "duration_ms", "reasoning",
    "reasoning_digest", "started_at", "recorded_at",
)  # fmt: skip


def load_runs(tasks: Sequence[Task]) -> list[Run]:
    """The runs of finished tasks, in order. A handful of queries for all of them."""
    calls = _calls(tasks)
    found = _failures(tasks)
    thoughts: dict[int, dict[int, str]] = defaultdict(dict)
    for task, index, text in Step.objects.filter(task__in=tasks).values_list("task", "index", "reasoning"):
        if text:
            thoughts[task][index] = text
    notes = _notes(tasks)
    return [
        Run(
            external_id=task.external_id,
            goal=task.goal,
            tags=tuple(task.tags),
            agent=task.agent,
            env=task.env,
            outcome=task.outcome,
            reward=task.reward,
            note=notes.get(task.pk, ""),
            task_failure=found[task.pk].get(None),
            calls=[_call(row, found[task.pk]) for row in calls[task.pk]],
            thoughts=thoughts[task.pk],
            is_nested=task.root_task != task.external_id,
            head=HEAD,
            left_out=max(0, task.call_count - len(calls[task.pk])),
        )
        for task in tasks
    ]


def _calls(tasks: Sequence[Task]) -> dict[int, list[dict[str, Any]]]:
    """Calls by task in order; of a huge task the first and the last."""
    rows: dict[int, list[dict[str, Any]]] = defaultdict(list)
    whole = [task.pk for task in tasks if task.call_count <= HEAD + TAIL]
    for row in ToolCall.objects.filter(task__in=whole).order_by("task_id", "seq").values(*CALL_FIELDS):
        rows[row["task_id"]].append(row)
    for task in tasks:
        if task.call_count > HEAD + TAIL:
            mine = ToolCall.objects.filter(task=task).values(*CALL_FIELDS)
            ends = list(mine.order_by("-seq")[:TAIL])[::-1]
            rows[task.pk] = [*mine.filter(seq__lt=ends[0]["seq"]).order_by("seq")[:HEAD], *ends]
    return rows


def _failures(tasks: Sequence[Task]) -> dict[int, dict[int | None, RunFailure]]:
    """The first failure of each call, by task and call; of the task as a whole under None."""
    found: dict[int, dict[int | None, RunFailure]] = defaultdict(dict)
    rows = Failure.objects.filter(task__in=tasks).order_by("-id").select_related("pattern")
    for row in rows.defer("context"):
        found[row.task_id][row.call_id] = RunFailure(
            message=row.message,
            template=row.pattern.template,
            error_type=row.error_type,
            pattern=str(row.pattern.uuid),
        )
    return found


def _notes(tasks: Sequence[Task]) -> dict[int, str]:
    """What the source that counts said last."""
    by = {task.pk: task.outcome_by for task in tasks}
    rows = Outcome.objects.filter(task__in=tasks).order_by("id").values_list("task", "by", "note")
    return {task: note for task, source, note in rows if by[task] == source}


def _call(row: dict[str, Any], failures: dict[int | None, RunFailure]) -> RunCall:
    given = row["input"]
    if is_reference(given) or not isinstance(given, dict):
        given = {"preview": _shown(given)}
    return RunCall(
        seq=row["seq"],
        tool=row["tool"],
        input=given,
        output=_shown(row["output"]),
        failure=failures.get(row["id"]),
        step=row["step"],
        duration_ms=row["duration_ms"],
        reasoning=row["reasoning"],
        reasoning_digest=row["reasoning_digest"],
        happened_at=row["started_at"] or row["recorded_at"],
    )


def _shown(value: Any) -> Any:
    """A large value is shown by its preview."""
    return value.get("preview", "") if is_reference(value) else value
