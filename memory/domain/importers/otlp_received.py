"""What is kept of a span that an exporter sent, until the task of its trace is written."""

from typing import Any

from memory.domain.importers.drafts import TEXT_CHARS, Draft
from memory.domain.importers.otlp import (
    AGENTS,
    CONVERSATIONS,
    ENVIRONMENTS,
    OUTCOME,
    REWARD,
    about_task,
    goal_of,
)  # fmt: skip
from memory.domain.importers.otlp_calls import (
    ARGUMENTS,
    ASKED_TOOL,
    CALL_ID,
    HTTP_STATUS,
    KINDS,
    MCP_METHOD,
    NAMES,
    OPERATION,
    RECORDED,
    RESULTS,
    call_of,
    is_recorded,
    is_tool,
    tool_of,
)  # fmt: skip
from memory.domain.importers.otlp_spans import SPAN_BYTES, TRACE_BYTES, Span
from memory.domain.importers.records import BadRecordError
from memory.domain.importers.values import parsed
from memory.domain.intake import DocumentError, read_document
from memory.domain.plain_json import storable

TOOL_FIELDS = (
    *NAMES, *ARGUMENTS, *RESULTS, *HTTP_STATUS, *KINDS, OPERATION, MCP_METHOD, CALL_ID, RECORDED, ASKED_TOOL,
    "error.type", "error.message",
)  # fmt: skip
TASK_FIELDS = (*AGENTS, *CONVERSATIONS, *ENVIRONMENTS, *KINDS, OPERATION, OUTCOME, REWARD, "error.type")
SPEAKS = ("gen_ai.", "openinference.", "traceloop.", "mcp.", "ai.", "hgmem.", "session.id")
"""Attributes of other beginnings belong to spans of databases, web requests and the like."""
MAX_NANOS = 2**63 - 1
SAID_CHARS = 1_000


def kept(row: dict[str, Any]) -> dict[str, Any] | None:
    """The part of a span's row that is needed, or None for a span that says nothing about agents.

    Raises BadRecordError for a span that can be no part of a task; the text names what is wrong.
    """
    _check_identity(row)
    span = Span(row)
    tool = is_tool(span)
    if not tool and row["parentSpanId"] and not any(name.startswith(SPEAKS) for name in row["attributes"]):
        return None
    attributes: dict[str, Any] = {
        name: value[:SAID_CHARS] if isinstance(value, str) else value
        for name in TASK_FIELDS
        if isinstance(value := row["attributes"].get(name), str | int | float)
    }
    if tool:
        attributes |= {name: parsed(row["attributes"].get(name)) for name in TOOL_FIELDS}
    elif goal := goal_of(span):
        attributes["input.value"] = goal[:TEXT_CHARS]
    small: dict[str, Any] = row | {
        "name": row["name"][:SAID_CHARS],
        "scope": row["scope"][:SAID_CHARS],
        "attributes": {name: value for name, value in attributes.items() if value is not None},
        "status": {
            "code": row["status"].get("code"),
            "message": _text(row["status"].get("message")),
        },
        "events": [
            {name: _text(event.get(name)) for name in ("exception.type", "exception.message")}
            for event in row["events"]
            if event.get("exception.type")
        ][-1:],
    }
    small = storable(small)
    if tool:
        _check_call(small)
    return small


def written(row: dict[str, Any]) -> dict[str, Any]:
    """What stays of a call that is written: enough to recognise the same call seen again."""
    named: dict[str, Any] = {"gen_ai.tool.name": tool_of(Span(row)), OPERATION: "execute_tool"}
    if is_recorded(Span(row)):
        named[RECORDED] = True
    said = {name: value for name, value in row["attributes"].items() if name in TASK_FIELDS}
    return row | {"attributes": said | named, "events": []}


def calls_document(trace: str, calls: list[tuple[int, Span]]) -> list[dict[str, Any]]:
    """Documents with these calls, each with its ``seq``, of a task that goes on."""
    draft = Draft(line=0, external_id=trace, calls=[call_of(span) for _, span in calls], final=False)
    documents = [imported.document for imported in draft.documents()]
    places = iter(seq for seq, _ in calls)
    for document in documents:
        document["calls"] = [call | {"seq": next(places)} for call in document["calls"]]
    return documents


def last_document(trace: str, spans: list[Span]) -> dict[str, Any]:
    """The document that ends the task; the spans are in the order of their start."""
    (ending,) = Draft(line=0, external_id=trace, **about_task(spans)).documents()
    return ending.document


def is_agent(span: Span) -> bool:
    """Whether the span tells of an agent's work, even if no tool was called in it."""
    return span.first(OPERATION) is not None or any(span.first(kind) is not None for kind in KINDS)


def _text(value: Any) -> str:
    return value[:TEXT_CHARS] if isinstance(value, str) else ""


def _check_identity(row: dict[str, Any]) -> None:
    for name, size in (("traceId", TRACE_BYTES), ("spanId", SPAN_BYTES)):
        if len(row[name]) != 2 * size or not row[name].strip("0"):
            raise BadRecordError(f"{name}: expected {2 * size} hexadecimal digits, not all zero")
    if row["parentSpanId"].strip("0") == "":
        row["parentSpanId"] = ""
    for name in ("begin", "end"):
        if not 0 <= row[name] <= MAX_NANOS:
            raise BadRecordError(f"{name}: expected nanoseconds since 1970")


def _check_call(row: dict[str, Any]) -> None:
    (document,) = calls_document(row["traceId"], [(0, Span(row))])
    checked = read_document(document)
    if isinstance(checked, DocumentError):
        error = checked.errors[0]
        raise BadRecordError(f"{error.field}: {error.detail}")
