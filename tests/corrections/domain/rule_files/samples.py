"""One rule document of each kind, and rules as a workspace has them."""

from typing import Any

from corrections.domain.documents import body_of, read_document
from corrections.domain.rule_files import KeptRule

DETAILS: dict[str, dict[str, Any]] = {
    "PARAMETER_TRANSFORM": {
        "operations": [
            {"op": "set_default", "field": "city", "default_value": "no"},
            {"op": "set", "field": "page.size", "value": None},
            {"op": "rename", "field": "q", "to": "query"},
            {"op": "remove", "field": "debug"},
            {"op": "cast", "field": "limit", "to": "integer"},
            {"op": "map_values", "field": "airport", "mapping": {"NYC": "JFK", "yes": "007"}},
            {"op": "regex_replace", "field": "date", "pattern": "([0-9]{2})/x", "replacement": "\\1"},
            {"op": "clamp", "field": "limit", "min": 1, "max": 50},
            {"op": "expression", "field": "total", "expression": "input.price * input.count"},
        ]
    },
    "TOOL_SWITCH": {"tool": "search_v2", "parameters": {"q": "query"}, "constants": {"lang": "no", "n": 1.5}},
    "PRE_CALL_VALIDATION": {
        "check": "input.amount > 0",
        "on_failure": "ask",
        "message": "Why?\n  Because: #1",
    },
    "POST_CALL_PARSING_ADJUST": {
        "operations": [
            {"op": "extract", "path": "$.data.items[*].name", "to": "names", "many": True},
            {"op": "cast", "field": "", "to": "json"},
            {"op": "treat_as_error", "message": "{{ output.reason }}"},
        ]
    },
    "PROMPT_ENHANCEMENT": {"text": "{{ tool.name }} fails without a city. Ask for it first. " * 4 + "End."},
    "INSERT_STEP": {"tool": "get_order", "arguments": {"id": "{{ input.order_id }}", "deep": [{"a": "~"}]}},
}


def body(action_type: str = "PRE_CALL_VALIDATION", **fields: Any) -> dict[str, Any]:
    """A canonical document."""
    document = {
        "name": "city", "applies_to": {"tool": "weather"}, "condition": "", "action_type": action_type,
        "action_detail": DETAILS[action_type],
    }  # fmt: skip
    return body_of(read_document(document | fields, author="human"))


def kept(uuid: str = "0" * 31 + "1", status: str = "active", **fields: Any) -> KeptRule:
    """A rule with one version, served when it is active. ``later`` is the body of a version that waits."""
    later, waiting = fields.pop("later", None), frozenset(fields.pop("waiting", ()))
    document = body(**fields)
    text = f"{uuid[:8]}-{uuid[8:12]}-{uuid[12:16]}-{uuid[16:20]}-{uuid[20:]}"
    live = document if status == "active" else None
    return KeptRule(
        text,
        document["name"],
        status,
        2 if later else 1,
        later or document,
        1 if live else None,
        live,
        waiting,
    )
