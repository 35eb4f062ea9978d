"""Rules for tests."""

from typing import Any

from corrections.actions.rules import activate_rule, draft_rule, edit_rule
from corrections.domain.documents import body_of
from corrections.domain.proposing import read_proposed, rule_key
from corrections.models import ChangeRequest, Rule, RuleProposal
from memory.domain.access import Actor
from memory.models import Workspace
from memory.permissions import SYSTEM
from tests.builders import NOW


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


def make_rule_proposal(workspace: Workspace, **fields: Any) -> RuleProposal:
    """What the inducer proposes, waiting: the article's rule unless ``document`` says another."""
    rule = read_proposed(fields.pop("document", weather_document()))
    given = {
        "key": rule_key(rule), "source": "inducer", "name": rule.name, "tool": rule.applies_to.tool,
        "action_type": rule.action.action_type, "document": body_of(rule), "proposed_by": "inducer",
        "caught": 3, "failures": 4, "good": 10, "runs": 2, "proposed_at": NOW, "updated_at": NOW, **fields,
    }  # fmt: skip
    return RuleProposal.objects.create(workspace=workspace, **given)


def make_change(
    workspace: Workspace, *, by: Actor = SYSTEM, priority: int = 5, **changes: Any
) -> ChangeRequest:
    """An open request to serve the second version of an active rule, written by ``by``."""
    rule = make_rule(workspace, **changes)
    document = {**rule.latest_version.body, "priority": priority}
    rule = edit_rule(rule=rule, document=document, base_version=1, by=by)
    return ChangeRequest.objects.get(rule=rule, status="open")


def allow_self_approval(workspace: Workspace) -> None:
    """Let one actor write and approve, as a small team may choose; keys too."""
    workspace.settings = workspace.settings | {"changes": {"self_approval": True, "key_approval": True}}
    workspace.save(update_fields=["settings"])
