"""Rules for tests."""

from typing import Any

import msgspec

from corrections.actions.publishing import stamp_ruleset
from corrections.actions.rules import activate_rule, draft_rule, edit_rule
from corrections.domain.canaries import PHASES, CanaryPolicy
from corrections.domain.documents import body_of
from corrections.domain.proposing import read_proposed, rule_key
from corrections.models import Canary, CanaryStage, ChangeRequest, Rule, RuleProposal
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


def make_canary(rule: Rule, *, state: str = "running", share: int = 5_000, **fields: Any) -> Canary:
    """The newest version of a rule on trial, in its first stage; agents are served so at once.

    Where another version is served, that is the baseline. Where none is, or the newest itself, the rule is a
    new one on trial (status "canary"); in a holdout it is served to all, and in shadow it stays as it is.
    """
    newest = rule.latest_version
    baseline = rule.live_version if rule.status == "active" and rule.live_version != newest else None
    if state == "holdout" or (state != "shadow" and baseline is None):
        status = "active" if state == "holdout" else "canary"
        Rule.objects.filter(pk=rule.pk).update(status=status, live_version=newest)
    given = {
        "version": newest, "baseline": baseline, "salt": "salt", "requested_by": "system",
        "policy": msgspec.to_builtins(CanaryPolicy()), "requested_at": NOW, "started_at": NOW,
        "evidence_since": NOW, "updated_at": NOW, **fields,
    }  # fmt: skip
    canary = Canary.objects.create(workspace=rule.workspace, rule=rule, state=state, share=share, **given)
    phase = state if state in PHASES else "trial"
    CanaryStage.objects.create(canary=canary, number=canary.stage, phase=phase, share=share, begun_at=NOW)
    stamp_ruleset(rule.workspace_id)
    rule.refresh_from_db()
    return canary


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


def serve_at_once(workspace: Workspace, **policy: Any) -> Workspace:
    """What agents write is served to all tasks once it is approved; ``policy`` may say more."""
    workspace.settings = workspace.settings | {"canaries": {"start": "never", **policy}}
    workspace.save(update_fields=["settings"])
    return workspace
