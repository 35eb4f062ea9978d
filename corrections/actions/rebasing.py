"""Bringing a change up to date with what is served now."""

from django.db import transaction
from django.utils import timezone

from corrections.actions.deciding import StaleChange, lock_changes
from corrections.actions.gate import served_numbers, state_of
from corrections.actions.requesting import REVISED, revise
from corrections.actions.versions import write_version
from corrections.domain.changes import SERVES, step_of
from corrections.domain.documents import body_of, read_document
from corrections.domain.lifecycle import Refused, check_step
from corrections.domain.threeway import merge_mine
from corrections.models import ChangeRequest, Rule, RuleVersion
from memory.actions import record_event
from memory.domain.access import Actor, check_may


@transaction.atomic
def rebase_change(*, change: ChangeRequest, revision: int, by: Actor) -> ChangeRequest:
    """Write the change anew against what is served now, keeping what it wants: a new revision.

    What others changed since is taken over; where both changed a field, the change's own value is kept.
    ``revision`` is the one that was looked at. Raises :class:`NotPermitted`, :class:`StaleChange`,
    :class:`Refused` when the rule's status does not allow it any more, :class:`hgmem.rules.RuleError` when
    both together are no valid rule, :class:`memory.domain.lifecycle.TransitionError`.
    """
    check_may(by, "draft_rule", within=change.workspace_id)
    locked = lock_changes([change.pk])[0]
    if locked.revision != revision:
        raise StaleChange(f"Meanwhile this was edited: it is revision {locked.revision} now.")
    if locked.rule is None:
        raise Refused("A ruling has no base: withdraw it and rule on the conflict anew.")
    rule = locked.rule
    check_step(rule.status, step_of(locked.kind))
    served = served_numbers([rule])
    old = {"base_version": locked.base_version, "base_status": locked.base_status}
    if locked.kind in SERVES:
        _take_over(locked, rule, by)
    locked.base_version, locked.base_status = state_of(rule, served)
    revise(locked, by=by, now=timezone.now())
    locked.save(update_fields=REVISED)
    record_event(
        by=by, workspace=locked.workspace, verb="rebase_change", subject=locked, old=old,
        new={"base_version": locked.base_version, "base_status": locked.base_status},
    )  # fmt: skip
    return locked


def _take_over(change: ChangeRequest, rule: Rule, by: Actor) -> None:
    """The next version: what is served now, with what the change wants."""
    base = RuleVersion.objects.filter(rule=rule, number=change.base_version or 0).first()
    if rule.live_version is None or base is None or change.version is None:
        return
    mine = change.version
    merged = merge_mine(base.body, rule.live_version.body, mine.body)
    parsed = read_document(merged, author=mine.created_by_kind)
    if body_of(parsed) != mine.body:
        note = f"Version {mine.number} on top of version {rule.live_version.number}"
        change.version = write_version(rule, parsed, by=by, note=note)
