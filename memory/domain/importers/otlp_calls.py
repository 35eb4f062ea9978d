"""Which spans are tool calls, and what each says about its call: the conventions in use, one mapping.

OpenTelemetry's GenAI and MCP conventions, OpenInference, OpenLLMetry, and what Pydantic AI, the Vercel AI SDK
and Google's ADK wrote before those settled.
"""

from collections.abc import Sequence
from typing import Any

from memory.domain.importers.drafts import call_document
from memory.domain.importers.moments import between_ms, moment
from memory.domain.importers.otlp_spans import Span
from memory.domain.importers.values import parsed

NAMES = (
    "gen_ai.tool.name", "tool.name", "traceloop.entity.name", "mcp.tool.name", "ai.toolCall.name",
)  # fmt: skip
ARGUMENTS = (
    "gen_ai.tool.call.arguments", "input.value", "tool.parameters", "traceloop.entity.input",
    "tool_arguments", "ai.toolCall.args", "gcp.vertex.agent.tool_call_args",
)  # fmt: skip
RESULTS = (
    "gen_ai.tool.call.result", "output.value", "traceloop.entity.output",
    "tool_response", "ai.toolCall.result", "gcp.vertex.agent.tool_response",
)  # fmt: skip
HTTP_STATUS = ("http.response.status_code", "http.status_code")
KINDS = ("openinference.span.kind", "traceloop.span.kind")
OPERATION = "gen_ai.operation.name"
MCP_METHOD = "mcp.method.name"
CALL_ID = "gen_ai.tool.call.id"
RECORDED = "hgmem.recorded"
ASKED_TOOL = "hgmem.asked_tool"
PREFIXES = ("execute_tool ", "tools/call ")


def is_tool(span: Span) -> bool:
    """Whether the span is the call of a tool."""
    return (
        span.first(OPERATION) == "execute_tool"
        or span.first(MCP_METHOD) == "tools/call"
        or any(str(span.first(kind)).lower() == "tool" for kind in KINDS)
        or (span.first(NAMES[0]) is not None and span.first(CALL_ID) is not None)
        or span.first("ai.toolCall.name") is not None
    )


def is_recorded(span: Span) -> bool:
    """Whether HGMem's own guard made the span and has recorded the call itself."""
    return span.first(RECORDED) is True


def tool_of(span: Span) -> str:
    """The name of the called tool; the span's own name where no attribute says it."""
    named = span.first(*NAMES)
    if named is not None:
        return str(named)
    name = span.name
    for prefix in PREFIXES:
        name = name.removeprefix(prefix)
    return name.strip()


def own_calls(spans: Sequence[Span]) -> list[Span]:
    """The spans that are a call each, in the order given.

    Left out are calls that the guard recorded, the spans of other instrumentation around such a call, and a
    span right inside a span of the same tool with the same arguments, or none: one call seen twice, as by an
    agent framework and its MCP client.
    """
    by_id = {span.id: span for span in spans if span.id and (is_tool(span) or is_recorded(span))}
    guarded = {
        (span.parent, tool)
        for span in by_id.values()
        if is_recorded(span)
        for tool in (tool_of(span), span.first(ASKED_TOOL))
    }
    return [
        span
        for span in spans
        if is_tool(span)
        and not is_recorded(span)
        and (span.id, tool_of(span)) not in guarded
        and not _is_same_call(span, by_id.get(span.parent))
    ]


def call_of(span: Span) -> dict[str, Any]:
    """The call in the shape of ``CallDoc``, without its ``seq``."""
    error_type, message = span.failure()
    begin, end = moment(span.begin_nanos), moment(span.end_nanos)
    call = call_document(
        tool_of(span),
        span.first(*ARGUMENTS),
        status="error" if span.failed else "ok" if end else "unknown",
        output=parsed(span.first(*RESULTS)),
        error=message if span.failed else None,
        error_type=error_type,
        duration_ms=between_ms(begin, end),
        started_at=begin,
    )
    http_status = span.first(*HTTP_STATUS)
    if span.failed and isinstance(http_status, int) and 100 <= http_status <= 599:
        call["error"]["http_status"] = http_status
    return call


def _is_same_call(span: Span, outer: Span | None) -> bool:
    if outer is None or tool_of(outer) != tool_of(span):
        return False
    inner_says, outer_says = parsed(span.first(*ARGUMENTS)), parsed(outer.first(*ARGUMENTS))
    return inner_says is None or outer_says is None or inner_says == outer_says
