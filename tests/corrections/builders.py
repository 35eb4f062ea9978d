"""Rules for tests."""

from typing import Any

from corrections.actions.rules import activate_rule, draft_rule
from corrections.models import Rule
from memory.models import Workspace
from memory.permissions import SYSTEM


def weather_document(**changes: Any) -> dict[str, Any]:
    """The article's rule: an empty city becomes Shanghai."""
    return {
        "name": "Default city",
        "applies_to": "TOOL_CALL:weather_api",
        "condition": "input.city == null || input.city.trim() == ''",
        "action_type": "PARAMETER_TRANSFORM",
        "action_detail": {"transform": "set_default", "field": "city", "default_value": "Shanghai"},
        "description": "An empty city becomes Shanghai.",
        **changes,
    }


def make_rule(
    workspace: Workspace, *, active: bool = True, patterns: tuple[str, ...] = (), **changes: Any
) -> Rule:
    """A rule of the article's kind, served unless told otherwise."""
    rule = draft_rule(
        workspace_id=workspace.pk, document=weather_document(**changes), by=SYSTEM, pattern_uuids=patterns
    )
    return activate_rule(rule=rule, by=SYSTEM) if active else rule
