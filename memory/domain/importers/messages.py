"""Chat messages in the OpenAI shapes: their text, the calls they make, the results they carry."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

TEXT_KEYS = ("text", "content", "refusal")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A call that a message asks for. `arguments` are JSON text or an object, as they came."""

    id: str
    tool: str
    arguments: Any


def plain_text(content: Any) -> str:
    """The text of a message's content: a string, one part, or a list of parts; images are left out."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text for part in content if (text := plain_text(part)))
    if isinstance(content, dict):
        return next((plain_text(content[key]) for key in TEXT_KEYS if content.get(key)), "")
    return ""


def wanted_calls(message: dict[str, Any]) -> Iterator[Wanted]:
    """Calls in ``tool_calls``, the legacy ``function_call``, or a Responses ``function_call`` item."""
    if message.get("type") in ("function_call", "custom_tool_call"):
        arguments = message.get("arguments", message.get("input"))
        yield Wanted(_identity(message.get("call_id")), _name(message), arguments)
        return
    tool_calls = message.get("tool_calls")
    for tool_call in tool_calls if isinstance(tool_calls, list) else []:
        if isinstance(tool_call, dict):
            yield _tool_call(tool_call)
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        yield Wanted("", _name(legacy), legacy.get("arguments"))


def is_result(message: dict[str, Any]) -> bool:
    """Does the message carry the result of a call?"""
    return message.get("role") in ("tool", "function") or message.get("type") in (
        "function_call_output",
        "custom_tool_call_output",
    )


def result_identity(message: dict[str, Any]) -> str:
    """The identifier of the call a result belongs to; empty in the legacy form."""
    return _identity(message.get("tool_call_id") or message.get("call_id"))


def result_content(message: dict[str, Any]) -> Any:
    """What the tool returned, as it came (text parts joined)."""
    content = message.get("content", message.get("output"))
    return plain_text(content) if isinstance(content, list) else content


def first_user_text(messages: list[Any]) -> str:
    """The first thing a user said."""
    for message in messages:
        if isinstance(message, dict) and message.get("role") == "user" and not is_result(message):
            return plain_text(message.get("content"))
    return ""


def canonical(value: Any) -> str:
    """The same text for the same JSON value, for digests."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def _tool_call(tool_call: dict[str, Any]) -> Wanted:
    function = tool_call.get("function")
    body = function if isinstance(function, dict) else tool_call
    arguments = body.get("arguments", body.get("args", body.get("input")))
    return Wanted(_identity(tool_call.get("id")), _name(body), arguments)


def _name(body: dict[str, Any]) -> str:
    name = body.get("name")
    return name if isinstance(name, str) else ""


def _identity(value: Any) -> str:
    return "" if value is None else str(value)
