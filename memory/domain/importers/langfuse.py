"""Langfuse observations: JSON array, JSONL, the download of one trace, or CSV; camel or snake case names.

One task per trace. A call is an observation of type TOOL, or a SPAN whose metadata or name says it is a
tool; a call that only shows in a GENERATION's output counts when no such observation has its name.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from memory.domain.importers.csv_rows import csv_rows
from memory.domain.importers.drafts import TEXT_CHARS, Draft, call_document
from memory.domain.importers.grouping import Group, Groups, LateRowError
from memory.domain.importers.langfuse_fields import (
    called_input,
    child_rows,
    field,
    generation_messages,
    moment_of,
    text,
    tool_name,
)
from memory.domain.importers.lines import BrokenArchiveError, plain_pieces
from memory.domain.importers.messages import (
    Wanted,
    first_user_text,
    is_result,
    plain_text,
    result_content,
    result_identity,
    wanted_calls,
)
from memory.domain.importers.moments import between_ms
from memory.domain.importers.records import BadRecordError, Item, LineError, Source, excerpt
from memory.domain.importers.values import json_values, parsed

LAST = "9999"


def read(lines: Source, *, source: str = "") -> Iterator[Item]:
    """Documents (in the order of their first rows, when the trace is complete) and line errors.

    `source` is not needed: traces have ids.
    """
    groups = Groups()
    for row in _rows(lines):
        if isinstance(row, LineError):
            yield row
            continue
        line, data, size = row
        try:
            for group in groups.add(_trace_of(data), line, data, size):
                yield from _draft(group).documents()
        except (BadRecordError, LateRowError) as bad:
            yield LineError(line, str(bad), excerpt(repr(data)))
    for group in groups.rest():
        yield from _draft(group).documents()


def _rows(lines: Source) -> Iterator[tuple[int, Any, int] | LineError]:
    pieces = plain_pieces(lines)
    try:
        head = next(pieces, b"")
    except BrokenArchiveError as broken:
        yield LineError(1, str(broken))
        return
    source = _again(head, pieces)
    if head.lstrip()[:1] not in (b"{", b"["):
        for row in csv_rows(source):
            yield row if isinstance(row, LineError) else (*row, sum(map(len, row[1].values())))
        return
    for value in json_values(source):
        if isinstance(value, LineError):
            yield value
        else:
            rows = list(child_rows(value.data))
            yield from ((value.line, row, value.size // len(rows)) for row in rows)


def _again(head: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from pieces


def _trace_of(row: Any) -> str:
    if not isinstance(row, dict):
        raise BadRecordError("expected an observation object")
    trace = text(row, "traceId")
    if not trace:
        raise BadRecordError("traceId: expected text")
    if not text(row, "type"):
        raise BadRecordError("type: expected SPAN, GENERATION, TOOL or EVENT")
    return trace


def _draft(group: Group) -> Draft:
    rows = sorted(group.rows, key=_begin)
    by_id = {text(row, "id"): row for row in rows}
    root = next((row for row in rows if text(row, "parentObservationId") not in by_id), rows[0])
    ends = [end for row in rows if (end := moment_of(row, "endTime"))]
    environment = text(root, "environment")
    tags = field(root, "tags")
    return Draft(
        line=group.line,
        external_id=group.key,
        goal=_goal(root, rows),
        tags=[tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else [],
        agent=text(root, "traceName") or text(root, "name"),
        framework="langfuse",
        root_task=text(root, "sessionId"),
        env={"environment": environment} if environment else {},
        started_at=moment_of(rows[0], "startTime"),
        finished_at=max(ends, default=None),
        outcome=_outcome(root),
        calls=_calls(rows),
    )


def _begin(row: dict[str, Any]) -> str:
    at = moment_of(row, "startTime")
    return at.isoformat() if at else LAST


def _goal(root: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    said = parsed(field(root, "input"))
    if isinstance(said, str) and said:
        return said
    for row in [root, *rows]:
        if found := first_user_text(generation_messages(row)):
            return found
    return plain_text(said) or _only_text(said)


def _only_text(said: Any) -> str:
    """``{"question": "..."}`` or observe()'s ``{"args": ["..."], "kwargs": {}}``: the one text in it."""
    if isinstance(said, dict):
        values = (
            [*(said.get("args") or []), *said.values()]
            if isinstance(said.get("args"), list)
            else said.values()
        )
        return next((value for value in values if isinstance(value, str) and value), "")
    return ""


def _outcome(root: dict[str, Any]) -> dict[str, Any] | None:
    if text(root, "level") != "ERROR" or tool_name(root):
        return None
    note = text(root, "statusMessage")
    return {"result": "failure", "by": "environment", "note": note[:TEXT_CHARS]}


def _calls(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    observed = {tool_name(row) for row in rows} - {""}
    returned = _returned(rows)
    calls: list[dict[str, Any]] = []
    step, reasoning = -1, ""
    for row in rows:
        if name := tool_name(row):
            calls.append(_observed_call(name, row, max(step, 0), reasoning))
            reasoning = ""
        elif text(row, "type") == "GENERATION":
            step += 1
            answer = generation_messages(row, "output")
            reasoning = plain_text([message.get("content") for message in answer])
            wanted = [
                call for message in answer for call in wanted_calls(message) if call.tool not in observed
            ]
            for call in wanted:
                calls.append(_wanted_call(call, row, returned, step, reasoning))
                reasoning = ""
    return calls


def _wanted_call(
    call: Wanted, row: dict[str, Any], returned: dict[str, Any], step: int, reasoning: str
) -> dict[str, Any]:
    """A call that shows only in a generation: begun when the generation ended, answered in a later one."""
    return call_document(
        call.tool,
        call.arguments,
        output=returned.get(call.id),
        step=step,
        reasoning=reasoning,
        started_at=moment_of(row, "endTime"),
    )


def _observed_call(name: str, row: dict[str, Any], step: int, reasoning: str) -> dict[str, Any]:
    begin, end = moment_of(row, "startTime"), moment_of(row, "endTime")
    failed = text(row, "level") == "ERROR"
    status = "error" if failed else _ended(end)
    return call_document(
        name,
        called_input(row),
        status=status,
        output=parsed(field(row, "output")),
        error=text(row, "statusMessage") if failed else None,
        step=step,
        tool_version=text(row, "version")[:200],
        duration_ms=between_ms(begin, end),
        started_at=begin,
        reasoning=reasoning,
    )


def _ended(end: datetime | None) -> str:
    return "ok" if end else "unknown"


def _returned(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Results by call id, from the messages that later generations were given."""
    return {
        result_identity(message): parsed(result_content(message))
        for row in rows
        if text(row, "type") == "GENERATION"
        for message in generation_messages(row)
        if is_result(message) and result_identity(message)
    }
