"""Steps in a rule's life: each is its change request, and the actor's own approval where that counts."""

from django.db import transaction
from django.utils import timezone

from corrections.actions.deciding import approve_change, approves_alone, policy_of, put_in_force
from corrections.actions.publishing import lock_rule
from corrections.actions.requesting import request_change
from corrections.domain.lifecycle import Refused
from corrections.models import ChangeRequest, Rule
from corrections.queries.dependencies import dependents_detail
from memory.actions import record_event
from memory.actions.alerts import raise_alert
from memory.domain.access import Actor, may

KINDS = {"activate": "enable", "disable": "disable", "retire": "retire", "delete": "delete"}
"""The steps people take, and the kind of change each asks for (what serves gets its kind by the status)."""


@transaction.atomic
def take_step(*, rule: Rule, step: str, by: Actor, reason: str = "") -> ChangeRequest:
    """Ask for a step and approve it, where the actor's approval counts: published when that is enough.

    ``step`` is one of ``KINDS``. Raises :class:`NotPermitted`, :class:`Refused`, and
    :class:`hgmem.rules.RuleError` when the version's window has ended; KeyError for an unknown step.
    """
    ends = step != "activate"
    detail = dependents_detail(rule, now=timezone.now()) if ends else {}
    change = request_change(rule=rule, kind=KINDS[step], by=by, reason=reason, detail=detail)
    if change.kind == "disable" and policy_of(change).urgent_disable and may(by, "publish_rule"):
        return _disable_at_once(change, by=by, reason=reason)
    return serve_by(change, by=by, note=reason)


def serve_by(change: ChangeRequest, *, by: Actor, note: str) -> ChangeRequest:
    """Count the actor's own approval of a request, unless the policy does not or it is there already."""
    if change.status != "open" or not approves_alone(change, by):
        return change
    if change.approvals.filter(revision=change.revision, actor_kind=by.kind, actor_uuid=by.uuid).exists():
        return change
    return approve_change(change=change, revision=change.revision, by=by, note=note)


def activate_rule(*, rule: Rule, by: Actor, reason: str = "") -> Rule:
    """Ask that the latest version be served; the rule as it is then. See :func:`take_step`."""
    return _rule_of(take_step(rule=rule, step="activate", by=by, reason=reason))


def disable_rule(*, rule: Rule, by: Actor, reason: str = "") -> Rule:
    """Ask that a rule be served no more; it can be activated again. See :func:`take_step`."""
    return _rule_of(take_step(rule=rule, step="disable", by=by, reason=reason))


def retire_rule(*, rule: Rule, by: Actor, reason: str = "") -> Rule:
    """Ask to end a rule for good; its history stays. See :func:`take_step`."""
    return _rule_of(take_step(rule=rule, step="retire", by=by, reason=reason))


def delete_rule(*, rule: Rule, by: Actor, reason: str = "") -> Rule:
    """Ask to take a rule out of the lists; history and evidence stay. See :func:`take_step`."""
    return _rule_of(take_step(rule=rule, step="delete", by=by, reason=reason))


def _rule_of(change: ChangeRequest) -> Rule:
    if change.rule is None:
        raise LookupError(f"Change request {change.uuid} has no rule.")
    return change.rule


def _disable_at_once(change: ChangeRequest, *, by: Actor, reason: str) -> ChangeRequest:
    """Serve the rule no more now; people are asked to look at it afterwards."""
    rule = lock_rule(_rule_of(change))
    if change.status not in ("open", "approved"):
        raise Refused("This request failed: look at it first.")
    ChangeRequest.objects.filter(pk=change.pk).update(status="approved", is_urgent=True, publish_at=None)
    change.status, change.is_urgent, change.publish_at, change.rule = "approved", True, None, rule
    put_in_force([change], by=by, reason=reason)
    record_event(
        by=by, workspace=change.workspace, verb="disable_at_once", subject=change, reason=reason,
        new={"kind": change.kind, "revision": change.revision},
    )  # fmt: skip
    raise_alert(
        workspace_id=change.workspace_id, kind="urgent_disable", dedupe=f"urgent:{change.uuid}", by=by,
        title=f"{by.name} disabled {rule.name} without an approval",
        detail={"change": str(change.uuid), "rule": str(rule.uuid), "reason": reason},
    )  # fmt: skip
    return change
