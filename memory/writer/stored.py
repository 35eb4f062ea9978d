"""What is stored of the tasks that a batch names: exactly what the merge rule needs."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec
from django.db import connection
from django.db.models import Q

from memory.domain.merge import StoredCall, StoredTask
from memory.domain.records import OutcomeRecord, TaskRecord
from memory.models import Outcome, Step, Task, ToolCall

FIELDS = (
    "id", "uuid", "external_id", "root_task", "goal", "tags", "agent", "framework", "env", "final",
    "started_at", "finished_at", "content_digest", "redactions",
)  # fmt: skip


class Known(msgspec.Struct, frozen=True):
    """A stored task: its row's values by field name, and its content for the merge."""

    id: int
    uuid: UUID
    row: dict[str, Any]
    task: StoredTask


def find_tasks(workspace_id: int, external_ids: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The rows of the tasks that exist, locked (in one order, so that two batches cannot deadlock)."""
    names = list(external_ids)
    if not _is_any_stored(workspace_id, names):
        return {}
    tasks = Task.objects.filter(workspace_id=workspace_id, external_id__in=names)
    locked = tasks.select_for_update().order_by("external_id")
    return {row["external_id"]: row for row in locked.values(*FIELDS)}


def _is_any_stored(workspace_id: int, names: Sequence[str]) -> bool:
    """Most batches hold only new tasks: one plain question spares them the large query."""
    marks = ", ".join(["%s"] * len(names))
    table = connection.ops.quote_name(Task._meta.db_table)
    question = f"SELECT 1 FROM {table} WHERE workspace_id = %s AND external_id IN ({marks}) LIMIT 1"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(question, [workspace_id, *names])
        return cursor.fetchone() is not None


def load_known(rows: Iterable[dict[str, Any]], incoming: Mapping[str, TaskRecord]) -> dict[str, Known]:
    """The content of those tasks, so far as the incoming documents touch it."""
    by_id = {row["id"]: row for row in rows}
    if not by_id:
        return {}
    calls = _calls(by_id, incoming)
    steps: dict[int, dict[int, str]] = defaultdict(dict)
    for task, index, digest in Step.objects.filter(task__in=by_id).values_list(
        "task", "index", "reasoning_digest"
    ):
        steps[task][index] = digest
    said: dict[int, list[OutcomeRecord]] = defaultdict(list)
    for outcome in Outcome.objects.filter(task__in=by_id).order_by("id"):
        said[outcome.task_id].append(outcome_record(outcome))
    return {
        row["external_id"]: Known(
            id=pk,
            uuid=row["uuid"],
            row=row,
            task=_stored_task(row, calls[pk], steps[pk], tuple(said[pk])),
        )
        for pk, row in by_id.items()
    }


def outcome_record(outcome: Outcome) -> OutcomeRecord:
    """An outcome row as the merge rule sees it."""
    return OutcomeRecord(
        result=outcome.result,  # type: ignore[arg-type]
        reward=outcome.reward,
        by=outcome.by,  # type: ignore[arg-type]
        note=outcome.note,
        digest=outcome.digest,
    )


def _calls(
    by_id: dict[int, dict[str, Any]], incoming: Mapping[str, TaskRecord]
) -> dict[int, dict[int, StoredCall]]:
    wanted = Q()
    for pk, row in by_id.items():
        record = incoming[row["external_id"]]
        if record.calls:
            seqs = [call.seq for call in record.calls]
            steps = {call.step for call in record.calls}
            wanted |= Q(task=pk) & (Q(seq__in=seqs) | Q(step__in=steps))
    found: dict[int, dict[int, StoredCall]] = defaultdict(dict)
    if wanted:
        for task, seq, digest, step in ToolCall.objects.filter(wanted).values_list(
            "task", "seq", "digest", "step"
        ):
            found[task][seq] = StoredCall(digest=digest, step=step)
    return found


def _stored_task(
    row: dict[str, Any],
    calls: dict[int, StoredCall],
    steps: dict[int, str],
    outcomes: tuple[OutcomeRecord, ...],
) -> StoredTask:
    return StoredTask(
        goal=row["goal"],
        tags=tuple(row["tags"]),
        agent=row["agent"],
        framework=row["framework"],
        root_task="" if row["root_task"] == row["external_id"] else row["root_task"],
        env=row["env"],
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        final=row["final"],
        calls=calls,
        steps=steps,
        outcomes=outcomes,
    )
