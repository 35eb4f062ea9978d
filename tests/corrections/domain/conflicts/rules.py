"""Short ways to write rules and facts."""

from datetime import UTC, datetime
from typing import Any

from corrections.domain.conflicts import Facts
from hgmem.rules import Rule

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FACTS = Facts(NOW)


def make_rule(uuid: str, condition: str, action_type: str, detail: dict[str, Any], **more: Any) -> Rule:
    """A rule of the tool ``search``, asked before the call."""
    scope = {"tool": "search", "point": "before"} | more.pop("applies_to", {})
    return Rule.from_document(
        {
            "uuid": uuid,
            "applies_to": scope,
            "condition": condition,
            "action_type": action_type,
            "action_detail": detail,
            **more,
        }
    )


def make_transform(uuid: str, condition: str, operation: dict[str, Any], **more: Any) -> Rule:
    """A PARAMETER_TRANSFORM of one operation."""
    return make_rule(uuid, condition, "PARAMETER_TRANSFORM", operation, **more)


def make_set(uuid: str, condition: str, field: str, value: Any, **more: Any) -> Rule:
    """A rule that sets a field."""
    return make_transform(uuid, condition, {"op": "set", "field": field, "value": value}, **more)


def make_block(uuid: str, condition: str, message: str = "no", **more: Any) -> Rule:
    """A rule that refuses the call."""
    return make_rule(uuid, condition, "PRE_CALL_VALIDATION", {"message": message}, **more)


def make_hint(uuid: str, condition: str, text: str = "mind", **more: Any) -> Rule:
    """A rule that tells the model something."""
    return make_rule(uuid, condition, "PROMPT_ENHANCEMENT", {"text": text}, **more)
