"""What every integration is tried with: rules as documents, and tools that fail the first time."""

from typing import Any

from hgmem.runtime.offline import OfflineClient

MEND_CITY = {
    "name": "Default city",
    "applies_to": "TOOL_CALL:weather",
    "condition": "input.city == null || input.city.trim() == ''",
    "action_type": "PARAMETER_TRANSFORM",
    "action_detail": {"transform": "set_default", "field": "city", "default_value": "Lima"},
}
BLOCK = {
    "name": "No weather",
    "applies_to": "TOOL_CALL:weather",
    "action_type": "PRE_CALL_VALIDATION",
    "action_detail": {"message": "Ask for the city first"},
}
HINT = {
    "name": "Units",
    "applies_to": {"tool": "weather", "point": "before"},
    "action_type": "PROMPT_ENHANCEMENT",
    "action_detail": {"text": "Degrees are Celsius"},
}
PLAN = {
    "name": "Plan",
    "applies_to": {"point": "planning"},
    "action_type": "PROMPT_ENHANCEMENT",
    "action_detail": {"text": "Name a city in every call"},
}
SWITCH = {
    "name": "Newer tool",
    "applies_to": "TOOL_CALL:weather",
    "action_type": "TOOL_SWITCH",
    "action_detail": {"tool": "forecast", "parameters": {"place": "city"}},
}
LOGIN_FIRST = {
    "name": "Sessions end",
    "applies_to": "TOOL_CALL:weather",
    "action_type": "INSERT_STEP",
    "action_detail": {"tool": "login", "arguments": {"user": "ann"}},
}


def offline(*rules: dict[str, Any], **settings: Any) -> OfflineClient:
    """A client with these rules."""
    return OfflineClient(rules, **settings)


def weather(city: str = "") -> str:
    """The weather of a city."""
    if not city.strip():
        raise ValueError("city must not be empty")
    return f"sunny in {city}"


def forecast(place: str) -> str:
    """The forecast for a place."""
    return f"forecast for {place}"


def login(user: str) -> str:
    """Open a session."""
    return f"welcome {user}"


def summary(client: OfflineClient) -> list[tuple[str, str, Any]]:
    """The recorded calls: tool, status, input."""
    return [(call["tool"], call["status"], call["input"]) for call in client.calls]
