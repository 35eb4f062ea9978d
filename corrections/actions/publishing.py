"""What changes what agents are served. Everything that does goes through :func:`publish`."""

from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from corrections.domain.documents import check_window
from corrections.domain.lifecycle import LIVE, Status, check_publishes, check_step
from corrections.live.announcing import announce_change
from corrections.models import Rule, RulesetStamp, RuleVersion
from memory.actions import record_event
from memory.actions.patterns import cover_patterns, uncover_patterns
from memory.domain.access import Actor, check_may


@transaction.atomic
def activate_rule(*, rule: Rule, by: Actor, reason: str = "") -> Rule:
    """Serve the latest version from now on (within its validity window).

    Raises :class:`NotPermitted`, :class:`Refused`, and :class:`hgmem.rules.RuleError` when its window ended.
    """
    check_may(by, "publish_rule", within=rule.workspace_id)
    rule = lock_rule(rule)
    status = check_step(rule.status, "activate")
    version = latest_of(rule)
    live = rule.live_version.number if rule.live_version else None
    check_publishes(rule.status, live=live, latest=version.number)
    check_window(version.valid_until, timezone.now())
    return publish(rule=rule, status=status, version=version, verb="activate_rule", by=by, reason=reason)


@transaction.atomic
def disable_rule(*, rule: Rule, by: Actor, reason: str = "") -> Rule:
    """Stop serving a rule; it can be activated again. Raises :class:`NotPermitted`, :class:`Refused`."""
    check_may(by, "publish_rule", within=rule.workspace_id)
    rule = lock_rule(rule)
    status = check_step(rule.status, "disable")
    return publish(rule=rule, status=status, version=None, verb="disable_rule", by=by, reason=reason)


@transaction.atomic
def retire_rule(*, rule: Rule, by: Actor, reason: str = "") -> Rule:
    """End a rule for good; its history stays. Raises :class:`NotPermitted`, :class:`Refused`."""
    check_may(by, "publish_rule", within=rule.workspace_id)
    rule = lock_rule(rule)
    status = check_step(rule.status, "retire")
    return publish(rule=rule, status=status, version=None, verb="retire_rule", by=by, reason=reason)


def expire_overdue_rules(*, now: datetime, by: Actor) -> int:
    """The clock: every active rule past its ``valid_until`` is expired. Returns how many.

    The matcher has not served them since the second they ended: this only makes the status say so.
    """
    check_may(by, "publish_rule")
    expired = 0
    for pk in Rule.objects.overdue(now).order_by("pk").values_list("pk", flat=True):
        with transaction.atomic():
            rule = Rule.objects.overdue(now).select_for_update(of=("self",)).filter(pk=pk).first()
            if rule is not None:
                status = check_step(rule.status, "expire")
                publish(rule=rule, status=status, version=None, verb="expire_rule", by=by, reason="")
                expired += 1
    return expired


def publish(
    *, rule: Rule, status: Status, version: RuleVersion | None, verb: str, by: Actor, reason: str
) -> Rule:
    """Set what agents are served of a locked rule, inside the caller's transaction.

    ``version`` is the version to serve, None to serve nothing. The one gate to agents: approvals, canaries
    and conflict checks attach here. Stamps the ruleset, moves the linked patterns, writes the audit event.
    """
    old = _state(rule)
    was_live = rule.status in LIVE
    rule.status, rule.live_version, rule.updated_at = status, version, timezone.now()
    rule.save(update_fields=["status", "live_version", "updated_at"])
    if was_live or status in LIVE:
        stamp_ruleset(rule.workspace_id)
    _move_patterns(rule, was_live=was_live, by=by)
    record_event(
        by=by, workspace=rule.workspace, verb=verb, subject=rule, old=old, new=_state(rule), reason=reason
    )
    return rule


def stamp_ruleset(workspace_id: int) -> None:
    """Say, in this transaction, that what the workspace's agents are served has changed."""
    RulesetStamp.objects.get_or_create(workspace_id=workspace_id, defaults={"changed_at": timezone.now()})
    RulesetStamp.objects.filter(workspace_id=workspace_id).update(
        version=F("version") + 1, changed_at=timezone.now()
    )
    transaction.on_commit(lambda: announce_change(workspace_id), robust=True)


def lock_rule(rule: Rule) -> Rule:
    """The rule as it is now, locked until the transaction ends.

    Without joins: PostgreSQL would look for the new row's version among those of before the wait.
    """
    return Rule.objects.select_for_update().get(pk=rule.pk)


def latest_of(rule: Rule) -> RuleVersion:
    """The newest version; every rule has one from its first moment."""
    if rule.latest_version is None:
        raise LookupError(f"Rule {rule.uuid} has no version.")
    return rule.latest_version


def _state(rule: Rule) -> dict[str, object]:
    return {
        "status": str(rule.status),
        "live_version": rule.live_version.number if rule.live_version else None,
    }


def _move_patterns(rule: Rule, *, was_live: bool, by: Actor) -> None:
    """Linked patterns are covered while any active rule names them."""
    is_live = rule.status in LIVE
    if was_live == is_live:
        return
    linked = list(rule.patterns.values_list("pk", flat=True))
    if not linked:
        return
    if is_live:
        cover_patterns(pattern_ids=linked, by=by, reason=f"rule {rule.name}")
        return
    others = Rule.objects.active().filter(patterns__in=linked).exclude(pk=rule.pk)
    still_covered = set(others.values_list("patterns", flat=True))
    left = [pk for pk in linked if pk not in still_covered]
    uncover_patterns(pattern_ids=left, by=by, reason=f"rule {rule.name} is {rule.status}")
