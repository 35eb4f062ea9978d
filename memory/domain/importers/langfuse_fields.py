"""The fields of a Langfuse observation, under either spelling, and what they mean for tool calls."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from memory.domain.importers.drafts import UNNAMED
from memory.domain.importers.moments import moment
from memory.domain.importers.values import parsed

CAPITAL = re.compile(r"(?=[A-Z])")
TOOL_NAME_KEYS = ("tool_name", "toolName", "gen_ai.tool.name", "tool.name")
KIND_KEYS = ("openinference.span.kind", "traceloop.span.kind", "kind")
NAME_PREFIXES = ("tool:", "tool.", "execute_tool ")
LISTS = ("observations", "data", "rows")


def field(row: dict[str, Any], name: str) -> Any:
    """`name` in camel case, else in snake case."""
    value = row.get(name)
    return row.get(CAPITAL.sub("_", name).lower()) if value is None else value


def text(row: dict[str, Any], name: str) -> str:
    """A field that is text; empty when it is missing or something else."""
    value = field(row, name)
    return value if isinstance(value, str) else ""


def moment_of(row: dict[str, Any], name: str) -> datetime | None:
    """A time field; exports without a zone are in UTC."""
    return moment(field(row, name))


def child_rows(data: Any) -> Iterator[Any]:
    """The observations in one value: itself, or those it lists (API page, download of one trace)."""
    if not isinstance(data, dict):
        yield data
        return
    listed = next((data[name] for name in LISTS if isinstance(data.get(name), list)), None)
    if listed is None:
        yield data
        return
    outer = data.get("trace")
    trace = outer if isinstance(outer, dict) else data
    known = {"traceId": trace.get("id"), "traceName": trace.get("name"), "sessionId": trace.get("sessionId")}
    for row in listed:
        yield (
            {**{key: value for key, value in known.items() if value}, **row} if isinstance(row, dict) else row
        )


def tool_name(row: dict[str, Any]) -> str:
    """The tool an observation is a call of; empty when it is none."""
    kind, name = text(row, "type").upper(), text(row, "name")
    metadata = _metadata(row)
    named = next((metadata[key] for key in TOOL_NAME_KEYS if isinstance(metadata.get(key), str)), "")
    if kind == "TOOL":
        return named or _bare(name) or UNNAMED
    if kind != "SPAN":
        return ""
    says_tool = any(str(metadata.get(key, "")).lower() == "tool" for key in KIND_KEYS)
    if named or says_tool or name.startswith(NAME_PREFIXES):
        return named or _bare(name) or UNNAMED
    return ""


def called_input(row: dict[str, Any]) -> Any:
    """The call's arguments; observe()'s ``{args, kwargs}`` becomes the keyword arguments."""
    value = parsed(field(row, "input"))
    if isinstance(value, dict) and set(value) == {"args", "kwargs"} and isinstance(value["kwargs"], dict):
        return {**value["kwargs"], **({"args": value["args"]} if value["args"] else {})}
    return value


def generation_messages(row: dict[str, Any], name: str = "input") -> list[dict[str, Any]]:
    """The chat messages in a generation's input or output, whatever they are wrapped in."""
    value = parsed(field(row, name))
    if isinstance(value, dict):
        inner = value.get("messages", value.get("output"))
        choices = value.get("choices")
        if isinstance(inner, list):
            value = inner
        elif isinstance(choices, list):
            value = [choice.get("message") for choice in choices if isinstance(choice, dict)]
        else:
            value = [value]
    return [message for message in value if isinstance(message, dict)] if isinstance(value, list) else []


def _bare(name: str) -> str:
    prefix = next((prefix for prefix in NAME_PREFIXES if name.startswith(prefix)), "")
    return name.removeprefix(prefix).strip()


def _metadata(row: dict[str, Any]) -> dict[str, Any]:
    metadata = parsed(field(row, "metadata"))
    if not isinstance(metadata, dict):
        return {}
    attributes = parsed(metadata.get("attributes"))
    return metadata | attributes if isinstance(attributes, dict) else metadata
