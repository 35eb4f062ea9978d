"""Typed builders: one row each, sensible defaults, no fixture pyramid."""

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, date, datetime
from itertools import count
from typing import Any

from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc, chain
from memory.domain.paths.keys import lineage_key
from memory.live.index import draft_entries
from memory.models import (
    DailyCount,
    ErrorPattern,
    Failure,
    Localization,
    Outcome,
    Path,
    PatternLink,
    Payload,
    Step,
    Task,
    Tool,
    ToolCall,
    Validator,
    Workspace,
)  # fmt: skip
from memory.writer.paths import NewPath, store_paths

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
_numbers = count(1)


def digest_of(value: Any) -> str:
    """A stand-in for the product's own digests: only its uniqueness matters here."""
    return hashlib.sha256(json.dumps(value, default=str).encode()).hexdigest()


def make_task(workspace: Workspace, external_id: str = "", **fields: Any) -> Task:
    """A task that the worker has already looked at."""
    name = external_id or f"task-{next(_numbers)}"
    given = {
        "root_task": name, "goal": "Change a flight", "agent": "gpt-4o", "content_digest": digest_of(name),
        "received_at": NOW, "updated_at": NOW, "analysed_at": NOW, **fields,
    }  # fmt: skip
    return Task.objects.create(workspace=workspace, external_id=name, **given)


def make_call(task: Task, tool: str = "book", **fields: Any) -> ToolCall:
    """The next call of a task."""
    seq = fields.pop("seq", task.calls.count())
    given = {"step": seq, "input": {"id": seq}, "status": "ok", "recorded_at": NOW, **fields}
    digest = digest_of([task.pk, seq])
    return ToolCall.objects.create(
        workspace=task.workspace, task=task, seq=seq, tool=tool, digest=digest, **given
    )


def make_step(task: Task, index: int, reasoning: str) -> Step:
    """A turn with reasoning."""
    return Step.objects.create(task=task, index=index, reasoning=reasoning)


def make_pattern(
    workspace: Workspace, title: str = "Payment amount does not add up", **fields: Any
) -> ErrorPattern:
    """An open pattern, seen once."""
    given = {
        "tool": "book", "error_type": "Error", "template": title, "occurrence_count": 1, "task_count": 1,
        "fingerprint": digest_of([title, next(_numbers)]), "first_seen_at": NOW, "last_seen_at": NOW,
        **fields,
    }  # fmt: skip
    return ErrorPattern.objects.create(workspace=workspace, title=title, **given)


def make_failure(call: ToolCall, pattern: ErrorPattern, **fields: Any) -> Failure:
    """An explicit failure of a call."""
    given = {
        "source": "explicit", "error_type": pattern.error_type, "message": pattern.title,
        "happened_at": NOW, "found_at": NOW, "detector": f"call:{call.seq}", **fields,
    }  # fmt: skip
    return Failure.objects.create(
        workspace=call.workspace, task=call.task, call=call, pattern=pattern, **given
    )


def make_outcome(task: Task, result: str = "failure", **fields: Any) -> Outcome:
    """What somebody said about a task."""
    given = {
        "by": "evaluator",
        "said_at": NOW,
        "digest": digest_of([task.pk, result, next(_numbers)]),
        **fields,
    }
    return Outcome.objects.create(task=task, result=result, **given)


def make_tool(workspace: Workspace, name: str = "book", **fields: Any) -> Tool:
    """A tool that appeared by itself."""
    schema = {"type": "object", "properties": {"id": {"type": "integer"}}}
    given = {
        "input_schema": schema, "schema_hash": digest_of(schema), "first_seen_at": NOW, "last_seen_at": NOW,
        **fields,
    }  # fmt: skip
    return Tool.objects.create(workspace=workspace, name=name, **given)


def make_validator(workspace: Workspace, name: str = "has a price", **fields: Any) -> Validator:
    """A CEL validator over one tool."""
    given = {"tool": "book", "kind": "cel", "body": {"check": "output.price > 0"}, **fields}
    return Validator.objects.create(workspace=workspace, name=name, **given)


def make_day(workspace: Workspace, day: date, calls: int, failures: int = 0, repeats: int = 0) -> DailyCount:
    """One tool's day."""
    return DailyCount.objects.create(
        workspace=workspace, day=day, tool="book", calls=calls, failures=failures, repeats=repeats
    )


def make_payload(workspace: Workspace, body: str) -> Payload:
    """A large value."""
    digest = hashlib.sha256(body.encode()).hexdigest()
    return Payload.objects.create(
        workspace=workspace, digest=digest, size=len(body), body=body, stored_at=NOW
    )


def make_link(one: ErrorPattern, other: ErrorPattern, similarity: float = 0.8) -> PatternLink:
    """``similar_to`` between two patterns."""
    first, second = sorted((one, other), key=lambda pattern: pattern.pk)
    return PatternLink.objects.create(pattern=first, other=second, similarity=similarity)


def make_doc(goal: str = "Change a flight", nodes: Sequence[NodeDoc | str] = (), **fields: Any) -> PathDoc:
    """A path document. A node given as a text is a call of that tool; edges lead from each to the next."""
    whole = tuple(
        NodeDoc(name=f"{node}-{place}", tool=node) if isinstance(node, str) else node
        for place, node in enumerate(nodes or ("find", "book"), start=1)
    )
    edges: tuple[EdgeDoc, ...] = fields.pop("edges", None) or chain([node.name for node in whole])
    given = {"tags": ("flight",), "result": "success", "reward": 1.0, "agent": "gpt-4o", **fields}
    return PathDoc(goal=goal, nodes=whole, edges=edges, **given)


def make_path(
    workspace: Workspace,
    goal: str = "Change a flight",
    nodes: Sequence[NodeDoc | str] = (),
    *,
    key: str = "",
    source: Task | None = None,
    origin: str = "run",
    **fields: Any,
) -> Path:
    """A stored path in its own lineage, active, version 1. ``fields`` are those of :func:`make_doc`."""
    doc = make_doc(goal, nodes, **fields)
    item = NewPath(
        lineage_key=key or lineage_key("path", f"made-{next(_numbers)}"),
        doc=doc,
        drafts=draft_entries([doc]),
        origin=origin,
        source_id=source.pk if source else None,
    )
    return store_paths(workspace.pk, [item], now=NOW)[0]


def make_localization(workspace: Workspace, *paths: Path, **fields: Any) -> Localization:
    """An answer that named these paths, best first."""
    candidates = [
        {"path": str(path.uuid), "score": 0.9 - 0.1 * place, "parts": {"tags": 0.5, "semantic": 0.9}}
        for place, path in enumerate(paths)
    ]
    given = {
        "goal": "Change a flight", "candidates": candidates, "kind": "found" if paths else "nothing",
        "asked_at": NOW, "asked_by": "agent", "query": {"top_k": 3}, **fields,
    }  # fmt: skip
    return Localization.objects.create(workspace=workspace, **given)
