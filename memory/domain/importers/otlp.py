"""OTLP JSON traces, as the collector's file exporter writes them: one export a line, or one spread out.

One task per trace. A call is a span that says so by the GenAI conventions
(``gen_ai.operation.name = execute_tool``), OpenInference (``openinference.span.kind = TOOL``) or OpenLLMetry
(``traceloop.span.kind = tool``).
"""

from collections.abc import Iterator
from typing import Any

from memory.domain.importers.drafts import TEXT_CHARS, Draft, call_document
from memory.domain.importers.grouping import Group, Groups, LateRowError
from memory.domain.importers.messages import first_user_text
from memory.domain.importers.moments import between_ms, moment
from memory.domain.importers.otlp_spans import Span, spans_of
from memory.domain.importers.records import BadRecordError, Item, LineError, Source, excerpt
from memory.domain.importers.values import Value, json_values, parsed

NAMES = ("gen_ai.tool.name", "tool.name", "traceloop.entity.name")
ARGUMENTS = ("gen_ai.tool.call.arguments", "input.value", "tool.parameters", "traceloop.entity.input")
RESULTS = ("gen_ai.tool.call.result", "output.value", "traceloop.entity.output")
CONVERSATIONS = ("gen_ai.conversation.id", "session.id")
AGENTS = ("gen_ai.agent.name", "agent.name", "service.name")
GOALS = ("input.value", "gen_ai.prompt.0.content", "llm.input_messages.0.message.content")
MESSAGES = ("gen_ai.input.messages", "gen_ai.prompt", "input.value")
HTTP_STATUS = ("http.response.status_code", "http.status_code")


def read(lines: Source, *, source: str = "") -> Iterator[Item]:
    """Documents (when the trace is complete) and line errors. `source` is not needed: traces have ids."""
    groups = Groups()
    for value in json_values(lines):
        if isinstance(value, LineError):
            yield value
            continue
        try:
            spans = list(spans_of(value.data))
        except BadRecordError as bad:
            yield LineError(value.line, str(bad), excerpt(repr(value.data)))
            continue
        for span in spans:
            yield from _take(groups, value, span, value.size // len(spans))
    for group in groups.rest():
        yield from _draft(group).documents()


def _take(groups: Groups, value: Value, span: dict[str, Any] | BadRecordError, size: int) -> Iterator[Item]:
    try:
        if isinstance(span, BadRecordError):
            raise span
        for group in groups.add(span["traceId"], value.line, span, size):
            yield from _draft(group).documents()
    except (BadRecordError, LateRowError) as bad:
        yield LineError(value.line, str(bad), excerpt(repr(value.data)))


def _draft(group: Group) -> Draft:
    spans = sorted((Span(row) for row in group.rows), key=lambda span: span.begin_nanos)
    by_id = {span.id for span in spans}
    root = next((span for span in spans if span.parent not in by_id), spans[0])
    environment = root.first("deployment.environment.name", "deployment.environment")
    return Draft(
        line=group.line,
        external_id=group.key,
        goal=_goal([root, *spans]),
        agent=str(_first(spans, AGENTS) or ""),
        framework=root.scope or "otlp",
        root_task=str(_first(spans, CONVERSATIONS) or ""),
        env={"environment": environment} if environment else {},
        started_at=moment(spans[0].begin_nanos),
        finished_at=moment(max(span.end_nanos for span in spans)),
        outcome=_outcome(root),
        calls=[_call(span) for span in spans if _is_tool(span)],
    )


def _is_tool(span: Span) -> bool:
    kinds = (span.first("openinference.span.kind"), span.first("traceloop.span.kind"))
    return span.first("gen_ai.operation.name") == "execute_tool" or any(
        str(kind).lower() == "tool" for kind in kinds
    )


def _call(span: Span) -> dict[str, Any]:
    error_type, message = span.failure()
    failed = span.failed
    begin, end = moment(span.begin_nanos), moment(span.end_nanos)
    call = call_document(
        span.first(*NAMES) or span.name.removeprefix("execute_tool ").strip(),
        span.first(*ARGUMENTS),
        status="error" if failed else "ok" if end else "unknown",
        output=parsed(span.first(*RESULTS)),
        error=message if failed else None,
        error_type=error_type,
        duration_ms=between_ms(begin, end),
        started_at=begin,
    )
    http_status = span.first(*HTTP_STATUS)
    if failed and isinstance(http_status, int) and 100 <= http_status <= 599:
        call["error"]["http_status"] = http_status
    return call


def _first(spans: list[Span], names: tuple[str, ...]) -> Any:
    """The first name that any span has, agents' own names before the service's."""
    return next((value for name in names for span in spans if (value := span.first(name))), None)


def _goal(spans: list[Span]) -> str:
    for span in spans:
        if _is_tool(span):
            continue
        for name in MESSAGES:
            found = parsed(span.first(name))
            listed = found.get("messages") if isinstance(found, dict) else found
            if isinstance(listed, list) and (said := first_user_text([_flat(item) for item in listed])):
                return said
        for name in GOALS:
            text = span.first(name)
            if isinstance(text, str) and text:
                return text
    return ""


def _flat(message: Any) -> Any:
    """GenAI messages carry ``parts``; chat messages carry ``content``."""
    if isinstance(message, dict) and "parts" in message:
        return {**message, "content": message["parts"]}
    return message


def _outcome(root: Span) -> dict[str, Any] | None:
    if not root.failed or _is_tool(root):
        return None
    _, message = root.failure()
    return {"result": "failure", "by": "environment", "note": message[:TEXT_CHARS]}
