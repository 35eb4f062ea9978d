"""From rows to what the analysis looks at."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from django.db import connection

from memory.domain.analysis import SeenCall, SeenTask, Watch
from memory.domain.context import LAST_STEPS
from memory.domain.failures import CallSnapshot
from memory.domain.payloads import Payload as StoredPayload
from memory.domain.payloads import is_reference, restore
from memory.domain.validators import InvalidValidatorError, compile_validator
from memory.models import Failure, Outcome, Payload, Task, ToolCall, Validator
from memory.queries.validators import spec_of

BATCH_TASKS = 100
BATCH_CALLS = 300
MAX_PAYLOAD_BYTES = 256 * 1024
MAX_PAYLOADS = 40
CALL_FIELDS = (
    "id", "task_id", "seq", "tool", "tool_version", "input", "output", "status", "error", "reasoning_digest",
    "started_at", "recorded_at",
)  # fmt: skip


class Claim(msgspec.Struct, frozen=True):
    """A task of the backlog as it was read; ``revision`` and ``watermark`` must hold when it is written.

    ``known``: the detectors that found something in it before. ``is_partial``: it has more new calls.
    """

    id: int
    workspace_id: int
    revision: int
    watermark: int
    new_watermark: int
    is_partial: bool
    error: str
    known: frozenset[str]
    task: SeenTask


def claim_batch() -> list[Claim]:
    """The oldest tasks with news, up to about ``BATCH_CALLS`` calls.

    On PostgreSQL, inside a transaction: locked, skipping what another worker has locked. On SQLite only read:
    whoever writes first wins (see :mod:`memory.background.findings`).
    """
    tasks = Task.objects.unanalysed().order_by("id")
    if connection.features.has_select_for_update_skip_locked:
        tasks = tasks.select_for_update(skip_locked=True)
    chosen: list[Task] = []
    size = 0
    for task in tasks[:BATCH_TASKS]:
        if chosen and size + task.call_count > BATCH_CALLS:
            break
        size += task.call_count
        chosen.append(task)
    return load_claims(chosen)


def load_claims(tasks: Sequence[Task]) -> list[Claim]:
    """The tasks with their new calls, what came before those, and what was said at the end."""
    rows = _new_rows(tasks)
    notes = _notes(tasks)
    known = _known_failures(tasks)
    workspaces = {task.workspace_id for task in tasks}
    payloads = _payloads(workspaces, (row for group in rows.values() for row in group))
    return [_claim(task, rows[task.pk], payloads, notes.get(task.pk, ""), known[task.pk]) for task in tasks]


def _claim(
    task: Task,
    rows: list[dict[str, Any]],
    payloads: dict[str, StoredPayload],
    note: str,
    detectors: set[str],
) -> Claim:
    fresh, is_partial = rows[:BATCH_CALLS], len(rows) > BATCH_CALLS
    earlier = _earlier_rows(task, fresh) if task.analysed_call and fresh else []
    calls = [_seen(row, payloads, is_new=True) for row in fresh]
    calls += [_seen(row, {}, is_new=False) for row in earlier]
    return Claim(
        id=task.pk,
        workspace_id=task.workspace_id,
        revision=task.revision,
        watermark=task.analysed_call,
        new_watermark=max((row["id"] for row in fresh), default=task.analysed_call),
        is_partial=is_partial,
        error=task.analysis_error,
        known=frozenset(detectors),
        task=SeenTask(
            goal=task.goal,
            env=task.env,
            outcome="unknown" if is_partial else task.outcome,
            reward=None if is_partial else task.reward,
            note=note,
            happened_at=task.finished_at or task.updated_at,
            calls=sorted(calls, key=lambda item: item.seq),
            failed_before=sum(name != "task" for name in detectors),
            has_outcome_failure="task" in detectors,
        ),
    )


def _new_rows(tasks: Sequence[Task]) -> dict[int, list[dict[str, Any]]]:
    """New calls by task, in the order in which they were stored; one more than a batch if there are more."""
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    whole = [task.pk for task in tasks if not task.analysed_call and task.call_count <= BATCH_CALLS]
    for row in ToolCall.objects.filter(task__in=whole).order_by("id").values(*CALL_FIELDS):
        found[row["task_id"]].append(row)
    for task in tasks:
        if task.pk not in whole:
            rows = ToolCall.objects.filter(task=task, id__gt=task.analysed_call).order_by("id")
            found[task.pk] = list(rows.values(*CALL_FIELDS)[: BATCH_CALLS + 1])
    return found


def _earlier_rows(task: Task, fresh: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Analysed calls that may stand in the context of a new one."""
    seqs = [row["seq"] for row in fresh]
    rows = ToolCall.objects.filter(task=task, id__lte=task.analysed_call, seq__lt=max(seqs))
    near = rows.filter(seq__gte=max(0, min(seqs) - LAST_STEPS)).order_by("-seq")
    return list(near.values(*CALL_FIELDS)[: LAST_STEPS + len(seqs)])


def _notes(tasks: Sequence[Task]) -> dict[int, str]:
    """What the source that counts said last about tasks that may have failed."""
    by = {task.pk: task.outcome_by for task in tasks if task.outcome == "failure" or task.reward is not None}
    notes: dict[int, str] = {}
    for task_id, source, note in (
        Outcome.objects.filter(task__in=by).order_by("id").values_list("task", "by", "note")
    ):
        if by[task_id] == source:
            notes[task_id] = note
    return notes


def _known_failures(tasks: Sequence[Task]) -> dict[int, set[str]]:
    known: dict[int, set[str]] = defaultdict(set)
    seen_before = [task.pk for task in tasks if task.failure_count]
    for task_id, detector in Failure.objects.filter(task__in=seen_before).values_list("task", "detector"):
        known[task_id].add(detector)
    return known


def _payloads(workspace_ids: set[int], rows: Iterable[dict[str, Any]]) -> dict[str, StoredPayload]:
    """The large values behind references, as far as they are worth reading here."""
    digests = {
        value["$payload"]
        for row in rows
        for value in (row["input"], row["output"])
        if is_reference(value) and value.get("size", 0) <= MAX_PAYLOAD_BYTES
    }
    if not digests:
        return {}
    found = Payload.objects.filter(workspace__in=workspace_ids, digest__in=sorted(digests)[:MAX_PAYLOADS])
    return {item.digest: StoredPayload(item.digest, item.size, item.body, item.truncated) for item in found}


def _seen(row: dict[str, Any], payloads: dict[str, StoredPayload], *, is_new: bool) -> SeenCall:
    error = row["error"] or {}
    call_input = _whole(row["input"], payloads)
    happened: datetime = row["started_at"] or row["recorded_at"]
    return SeenCall(
        id=row["id"],
        seq=row["seq"],
        call=CallSnapshot(
            tool=row["tool"],
            input=call_input if isinstance(call_input, dict) else {"preview": call_input},
            output=_whole(row["output"], payloads),
            status=row["status"],
            error_type=error.get("type", ""),
            error_message=error.get("message", ""),
            http_status=error.get("http_status"),
            error_detail=error.get("detail"),
        ),
        reasoning_digest=row["reasoning_digest"],
        tool_version=row["tool_version"],
        happened_at=happened,
        is_new=is_new,
    )


def _whole(value: Any, payloads: dict[str, StoredPayload]) -> Any:
    return restore(value, payloads.get(value["$payload"])) if is_reference(value) else value


_compiled: dict[tuple[UUID, int], Watch] = {}
MAX_COMPILED = 1_000


def load_watches(workspace_ids: Iterable[int]) -> dict[int, list[Watch]]:
    """Enabled validators by workspace. One that does not compile is left out: saving it was refused too."""
    watches: dict[int, list[Watch]] = defaultdict(list)
    for row in Validator.objects.enabled().filter(workspace__in=set(workspace_ids)).order_by("id"):
        key = (row.uuid, row.revision)
        if key not in _compiled:
            try:
                compiled = compile_validator(spec_of(row))
            except InvalidValidatorError:
                continue
            if len(_compiled) >= MAX_COMPILED:
                _compiled.clear()
            _compiled[key] = Watch(row.pk, str(row.uuid), row.tool, compiled)
        watches[row.workspace_id].append(_compiled[key])
    return watches
