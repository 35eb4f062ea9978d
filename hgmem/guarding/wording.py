"""What a model reads when rules had a say: short, in one form for every framework.

The texts of rules are written or approved by people; here they are only put together.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

MAX_CHARS: Final = 8_000
MAX_STEP_CHARS: Final = 500


def refusal(messages: Iterable[str]) -> str:
    """A call was not made because of a rule."""
    return _cut(f"The call was not made: {_joined(messages)}")


def approval(messages: Iterable[str]) -> str:
    """A call was not made because a person has to agree first, and nobody did."""
    return _cut(f"The call was not made; it needs the approval of a person: {_joined(messages)}")


def no_decision(tool: str, why: str) -> str:
    """A call was not made because no rules could be had for a tool that is never called without."""
    return _cut(f"The call was not made: there are no rules for {tool} just now ({why}). Try again later.")


def call_instead(tool: str, call_input: Mapping[str, Any]) -> str:
    """Another tool should be called, which only the model can do."""
    return _cut(f"The call was not made: call {tool} instead, with {as_json(call_input)}.")


def call_first(tool: str, arguments: Mapping[str, Any], reason: str) -> str:
    """Another call should come first, which only the model can make."""
    return _cut(f"Before this, call {tool} with {as_json(arguments)}{_because(reason)}.")


def step_made(tool: str, reason: str, answer: str) -> str:
    """A call was made first, on behalf of a rule."""
    return _cut(f"{tool} was called first{_because(reason)}. It answered: {_short(answer)}")


def step_failed(tool: str, reason: str, error: str) -> str:
    """A call that should come first was tried, and failed."""
    return _cut(f"{tool} was called first{_because(reason)}, and failed: {_short(error)}")


def with_hints(text: str, hints: Iterable[str]) -> str:
    """A tool's answer with the hints below it."""
    lines = [f"[hint] {hint}" for hint in hints]
    return "\n\n".join([text, *lines]) if lines else text


def _joined(messages: Iterable[str]) -> str:
    return " ".join(message if message.endswith((".", "!", "?")) else f"{message}." for message in messages)


def as_json(value: Any) -> str:
    """A plain value as a model reads it."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _because(reason: str) -> str:
    return f" ({reason.rstrip('.')})" if reason else ""


def _short(text: str) -> str:
    return text if len(text) <= MAX_STEP_CHARS else text[: MAX_STEP_CHARS - 1] + "…"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CHARS else text[: MAX_CHARS - 1] + "…"
