"""Merge prepared documents into the database. Runs inside the caller's transaction."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID, uuid4

import msgspec
from django.db.models import F

from memory.domain.intake import FieldError
from memory.domain.merge import MergeConflict, MergePlan, merge_task
from memory.domain.payloads import Payload as StoredPayload
from memory.domain.records import OutcomeRecord, StepRecord
from memory.models import Outcome, Payload, Step, Task, ToolCall
from memory.writer.prepare import CALL_FIELDS, Prepared, as_json
from memory.writer.stored import Known, find_tasks, load_known
from memory.writer.tables import Row, Table, identifier, moment

TASKS = Table(
    Task,
    (
        "uuid", "workspace", "external_id", "root_task", "goal", "tags", "agent", "framework", "env", "final",
        "outcome", "reward", "outcome_by", "call_count", "failure_count", "content_digest", "redactions",
        "started_at", "finished_at", "received_at", "updated_at", "revision", "analysed_at", "analysed_call",
        "analysis_error",
    ),
)  # fmt: skip
CALLS = Table(ToolCall, CALL_FIELDS)
STEPS = Table(Step, ("task", "index", "reasoning", "reasoning_digest"))
OUTCOMES = Table(Outcome, ("task", "result", "reward", "by", "actor", "note", "digest", "said_at"))
PAYLOADS = Table(Payload, ("workspace", "digest", "size", "truncated", "body", "stored_at"))


class Written(msgspec.Struct, frozen=True):
    """What became of one document."""

    status: Literal["created", "updated", "unchanged", "conflict"]
    uuid: UUID
    calls_added: int = 0
    errors: tuple[FieldError, ...] = ()


class _Rows:
    """What one round adds to the tables below the task."""

    def __init__(self, workspace_id: int, actor: str, now: datetime) -> None:
        self.workspace_id, self.actor, self.at = workspace_id, actor[:200], moment(now)
        self.calls: list[Row] = []
        self.steps: list[Row] = []
        self.outcomes: list[Row] = []
        self.payloads: list[Row] = []

    def add(self, task_id: int, item: Prepared, plan: MergePlan) -> None:
        """Everything of the plan that is a new row."""
        head = (self.workspace_id, task_id, self.at)
        self.calls += [head + item.rows[call.seq] for call in plan.calls]
        self.steps += [_step_row(task_id, step) for step in plan.steps]
        if plan.outcome:
            self.outcomes.append(outcome_row(task_id, plan.outcome, self.actor, self.at))
        self.payloads += [self._payload_row(payload) for payload in item.payloads]

    def write(self) -> None:
        """One statement for each table that has news."""
        CALLS.append(self.calls)
        STEPS.append(self.steps)
        OUTCOMES.append(self.outcomes)
        PAYLOADS.append_missing(sorted(set(self.payloads)), unique="workspace_id, digest")

    def _payload_row(self, payload: StoredPayload) -> Row:
        return (
            *(self.workspace_id, payload.digest, payload.size),
            *(payload.truncated, payload.content, self.at),
        )


def write_documents(
    workspace_id: int, items: Sequence[Prepared], *, actor: str, now: datetime
) -> list[Written]:
    """Store the documents in their order; one that comes twice is merged as if it had been sent twice."""
    results: dict[int, Written] = {}
    waiting = dict(enumerate(items))
    while waiting:
        seen: set[str] = set()
        this_round: dict[int, Prepared] = {}
        for index, item in waiting.items():
            if item.record.external_id not in seen:
                seen.add(item.record.external_id)
                this_round[index] = item
        written = _write_round(workspace_id, this_round, actor, now)
        results |= written
        waiting = {index: item for index, item in waiting.items() if index not in written}
    return [results[index] for index in range(len(items))]


def _write_round(
    workspace_id: int, items: dict[int, Prepared], actor: str, now: datetime
) -> dict[int, Written]:
    """Documents of different tasks. One whose task appeared meanwhile is left for the next round."""
    incoming = {item.record.external_id: item.record for item in items.values()}
    known = load_known(find_tasks(workspace_id, incoming).values(), incoming)
    rows = _Rows(workspace_id, actor, now)
    results: dict[int, Written] = {}
    fresh: dict[int, tuple[Prepared, MergePlan]] = {}
    for index, item in items.items():
        old = known.get(item.record.external_id)
        plan = merge_task(old.task if old else None, item.record)
        if isinstance(plan, MergeConflict):
            assert old is not None  # noqa: S101 - a new task has nothing to contradict
            results[index] = Written("conflict", old.uuid, errors=plan.errors)
        elif old is None:
            fresh[index] = (item, plan)
        elif plan.unchanged or old.row["content_digest"] == item.record.digest:
            results[index] = Written("unchanged", old.uuid)
        else:
            _update_task(old, item, plan, now)
            rows.add(old.id, item, plan)
            results[index] = Written("updated", old.uuid, len(plan.calls))
    results |= _insert_tasks(workspace_id, fresh, rows, now)
    rows.write()
    return results


def _insert_tasks(
    workspace_id: int, fresh: dict[int, tuple[Prepared, MergePlan]], rows: _Rows, now: datetime
) -> dict[int, Written]:
    """New task rows. Another process may have been faster with some: those are not in the answer."""
    if not fresh:
        return {}
    ordered = sorted(fresh.items(), key=lambda pair: pair[1][0].record.external_id)
    at = moment(now)
    uuids = {index: uuid4() for index in fresh}
    task_rows = [_task_row(workspace_id, uuids[index], item, plan, at) for index, (item, plan) in ordered]
    ids = TASKS.append_returning(task_rows, unique="workspace_id, external_id", key="external_id")
    written: dict[int, Written] = {}
    for index, (item, plan) in fresh.items():
        task_id = ids.get(item.record.external_id)
        if task_id is not None:
            rows.add(task_id, item, plan)
            written[index] = Written("created", uuids[index], len(plan.calls))
    return written


def _task_row(workspace_id: int, uuid: UUID, item: Prepared, plan: MergePlan, at: Any) -> Row:
    record, outcome = item.record, plan.outcome_now
    return (
        identifier(uuid), workspace_id, record.external_id, record.root_task or record.external_id,
        record.goal, as_json(record.tags), record.agent, record.framework, as_json(record.env), record.final,
        outcome.result if outcome else "unknown", outcome.reward if outcome else None,
        outcome.by if outcome else "", len(plan.calls), 0, record.digest, as_json(record.redactions),
        moment(record.started_at), moment(record.finished_at), at, at, 1, None, 0, "",
    )  # fmt: skip


def _update_task(old: Known, item: Prepared, plan: MergePlan, now: datetime) -> None:
    """Fill the task's empty fields and put it back into the backlog."""
    record, outcome, fill = item.record, plan.outcome_now, dict(plan.fill)
    if "tags" in fill:
        fill["tags"] = list(fill["tags"])
    if outcome:
        fill |= {"outcome": outcome.result, "reward": outcome.reward, "outcome_by": outcome.by}
    redactions = {
        kind: max(old.row["redactions"].get(kind, 0), record.redactions.get(kind, 0))
        for kind in {**old.row["redactions"], **record.redactions}
    }
    Task.objects.filter(pk=old.id).update(
        **fill,
        call_count=F("call_count") + len(plan.calls),
        content_digest=record.digest,
        redactions=redactions,
        updated_at=now,
        revision=F("revision") + 1,
        analysed_at=None,
    )
    for step in plan.fill_steps:
        Step.objects.filter(task=old.id, index=step.index).update(
            reasoning=step.reasoning, reasoning_digest=step.reasoning_digest
        )


def outcome_row(task_id: int, outcome: OutcomeRecord, actor: str, at: Any) -> Row:
    """An outcome as a row of ``OUTCOMES``."""
    return (
        *(task_id, outcome.result, outcome.reward, outcome.by, actor),
        *(outcome.note, outcome.digest, at),
    )


def _step_row(task_id: int, step: StepRecord) -> Row:
    return (task_id, step.index, step.reasoning, step.reasoning_digest)
