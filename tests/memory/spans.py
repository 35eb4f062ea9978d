"""Builders of OTLP exports in their JSON form."""

from typing import Any

TRACE = "5b8efff798038103d269b633813fc60c"
START = 1_779_278_400_000_000_000


def attributes(**named: Any) -> list[dict[str, Any]]:
    """Attributes as OTLP's JSON lists them."""
    return [{"key": name, "value": any_value(value)} for name, value in named.items()]


def any_value(value: Any) -> dict[str, Any]:
    """An OTLP ``AnyValue``."""
    if isinstance(value, dict):
        return {"kvlistValue": {"values": attributes(**value)}}
    if isinstance(value, bool):
        return {"boolValue": value}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def make_span(number: int, name: str, named: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A span that began ``number`` * 100 ms after the first; span 1 is the root and the others' parent."""
    begin = START + number * 100_000_000
    return {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        "parentSpanId": "" if number == 1 else f"{1:016x}",
        "name": name,
        "startTimeUnixNano": str(begin),
        "endTimeUnixNano": str(begin + 50_000_000),
        "attributes": attributes(**(named or {})),
        "status": {},
        **fields,
    }


def make_root(**fields: Any) -> dict[str, Any]:
    """The span of the agent, which ends last."""
    named = {
        "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper",
        "gen_ai.conversation.id": "conv-7", "input.value": "Find a flight",
    }  # fmt: skip
    return make_span(1, "invoke_agent helper", named, **fields)


def make_tool_span(number: int, tool: str = "search", *, named: Any = (), **fields: Any) -> dict[str, Any]:
    """A span of a tool call."""
    said = {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool,
        "gen_ai.tool.call.arguments": f'{{"n": {number}}}', "gen_ai.tool.call.result": "done", **dict(named),
    }  # fmt: skip
    return make_span(number, f"execute_tool {tool}", said, **fields)


def make_export(*spans: dict[str, Any]) -> dict[str, Any]:
    """An export of one service."""
    resource = {"attributes": attributes(**{"service.name": "shop"})}
    return {
        "resourceSpans": [
            {"resource": resource, "scopeSpans": [{"scope": {"name": "agents"}, "spans": list(spans)}]}
        ]
    }
