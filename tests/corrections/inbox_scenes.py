"""One item of every kind that may wait for a person."""

from datetime import timedelta
from itertools import count
from typing import Any

from corrections.models import Canary, ChangeRequest, Conflict, Rule, RuleProposal, ToolImpact
from memory.models import Workspace
from tests.builders import NOW, make_tool
from tests.corrections.builders import make_canary, make_rule
from tests.memory.builders import make_alert, make_rewrite

_numbers = count(1)


def make_change(workspace: Workspace, rule: Rule, **fields: Any) -> ChangeRequest:
    """Somebody wants the rule to be disabled."""
    given = {
        "kind": "disable", "title": f"Disable {rule.name}", "base_version": 1, "base_status": "active",
        "authors": ["somebody"], "requested_by": "maintainer", "requested_by_kind": "user",
        "requested_at": NOW, "updated_at": NOW, **fields,
    }  # fmt: skip
    return ChangeRequest.objects.create(workspace=workspace, rule=rule, **given)


def make_proposal(workspace: Workspace, **fields: Any) -> RuleProposal:
    """A rule that the inducer would like to have."""
    document = {
        "name": "Ask about the city", "applies_to": {"point": "before", "tool": "weather_api"},
        "condition": "input.city == null", "action_type": "PRE_CALL_VALIDATION",
        "action_detail": {"on_failure": "ask", "message": "Which city?"},
    }  # fmt: skip
    given = {
        "source": "inducer", "name": "Ask about the city", "tool": "weather_api", "document": document,
        "action_type": "PRE_CALL_VALIDATION", "caught": 4, "failures": 5, "good": 30, "runs": 4,
        "proposed_by": "the inducer", "proposed_at": NOW, "updated_at": NOW, **fields,
    }  # fmt: skip
    return RuleProposal.objects.create(workspace=workspace, key=f"made-{next(_numbers)}", **given)


def make_conflict(workspace: Workspace, rule: Rule, other: Rule | None, **fields: Any) -> Conflict:
    """Both write the city."""
    given = {
        "kind": "contradictory", "verdict": "conflict", "tool": "weather_api", "point": "before",
        "field": "input.city", "version_a": 1, "version_b": 1 if other else None,
        "witness": {"tool": "weather_api", "input": {}}, "found_at": NOW, "updated_at": NOW, **fields,
    }  # fmt: skip
    return Conflict.objects.create(
        workspace=workspace, dedupe=f"made-{next(_numbers)}", rule_a=rule, rule_b=other, **given
    )


def make_impact(workspace: Workspace, **fields: Any) -> ToolImpact:
    """A tool has another schema."""
    tool = make_tool(workspace, f"tool-{next(_numbers)}")
    given = {"from_version": 1, "to_version": 2, "opened_at": NOW, **fields}
    return ToolImpact.objects.create(workspace=workspace, tool=tool, **given)


def make_stale(workspace: Workspace, name: str = "Old rule") -> Rule:
    """A rule that did not fire for long."""
    rule = make_rule(workspace, name=name)
    rule.stale_since = NOW
    rule.stale_reasons = [{"kind": "unmatched", "days": 60}]
    rule.save(update_fields=["stale_since", "stale_reasons"])
    return rule


def make_held(workspace: Workspace, name: str = "On trial", **fields: Any) -> Canary:
    """A canary whose time is over without a verdict."""
    rule = make_rule(workspace, name=name)
    return make_canary(rule, state="held", **{"state_reason": name, **fields})


def build_inbox(workspace: Workspace, text: str = "") -> dict[str, Any]:
    """One row of every kind, each an hour after the one before; by kind."""
    rule, other = make_rule(workspace, name=text or "A"), make_rule(workspace, name=text or "B")
    hours = [NOW + timedelta(hours=number) for number in range(8)]
    said = {"title": text} if text else {}
    stale = make_stale(workspace, text or "Old rule")
    Rule.objects.filter(pk=stale.pk).update(stale_since=hours[6])
    return {
        "rewrite": make_rewrite(workspace, requested_at=hours[0]),
        "proposal": make_proposal(workspace, proposed_at=hours[1], **({"name": text} if text else {})),
        "change": make_change(workspace, rule, requested_at=hours[2], **said),
        "conflict": make_conflict(workspace, rule, other, found_at=hours[3]),
        "alert": make_alert(workspace, raised_at=hours[4], **said),
        "impact": make_impact(workspace, opened_at=hours[5]),
        "stale": stale,
        "canary": make_held(workspace, text or "On trial", updated_at=hours[7]),
    }
