"""Shadow runs: a version's matches are noted and nothing is done, before anybody has to approve it."""

from secrets import token_hex

import msgspec
from django.db import transaction
from django.utils import timezone

from corrections.actions.canary_rows import lock_canary, note
from corrections.actions.canary_starting import begin_shadow, end_canary
from corrections.actions.locking import lock_rules, lock_stamp
from corrections.domain.canaries import safe_canary_policy
from corrections.domain.documents import check_window
from corrections.domain.lifecycle import LIVE, ReasonMissing, Refused, Status
from corrections.models import Canary, Rule, RuleVersion
from memory.domain.access import Actor, check_may

MAX_SHADOWS = 50
"""Versions that run in shadow without an approval, in one workspace: each is matched with every call."""


@transaction.atomic
def start_shadow(*, rule: Rule, version: RuleVersion, by: Actor, reason: str) -> Canary:
    """Run a version in shadow: what it would have done is counted, and it never acts.

    It needs no approval. Of a rule that is served, the version served goes on acting.
    Raises :class:`NotPermitted`, :class:`Refused`, :class:`ReasonMissing`, and
    :class:`hgmem.rules.RuleError` when the version's window has ended.
    """
    check_may(by, "draft_rule", within=rule.workspace_id)
    if not reason.strip():
        raise ReasonMissing("Say why: the reason stays with the canary.")
    locked, now = lock_rules([rule.pk])[0], timezone.now()
    _check(locked, version)
    check_window(version.valid_until, now)
    _check_room(locked.workspace_id)
    canary = Canary.objects.create(
        workspace=locked.workspace, rule=locked, version=version, salt=token_hex(16),
        baseline=locked.live_version if locked.status == Status.ACTIVE else None,
        policy=msgspec.to_builtins(safe_canary_policy(locked.workspace.settings)),
        requested_by=by.name[:200], requested_at=now, updated_at=now,
    )  # fmt: skip
    note(canary, "open", by=by, reason=reason)
    begin_shadow(canary, by=by, reason=reason)
    return canary


@transaction.atomic
def stop_shadow(*, canary: Canary, by: Actor, reason: str) -> Canary:
    """End a shadow run that nobody has approved; what it saw stays.

    Raises :class:`NotPermitted`, :class:`Refused`, :class:`ReasonMissing`.
    """
    check_may(by, "draft_rule", within=canary.workspace_id)
    if not reason.strip():
        raise ReasonMissing("Say why: the reason stays with the canary.")
    locked = lock_canary(canary)
    if locked.change_id is not None or locked.state not in ("shadow", "paused"):
        raise Refused("This is no shadow run: roll the canary back, or pause it.")
    end_canary(locked, by=by, reason=reason)
    return locked


def _check_room(workspace_id: int) -> None:
    lock_stamp(workspace_id)
    watching = Canary.objects.live().filter(workspace_id=workspace_id, change=None)
    if watching.count() >= MAX_SHADOWS:
        raise Refused(f"{MAX_SHADOWS} versions run in shadow already: stop one of them first.")


def _check(rule: Rule, version: RuleVersion) -> None:
    if version.rule_id != rule.pk:
        raise Refused("This version belongs to another rule.")
    if rule.status in (Status.RETIRED, Status.DELETED):
        raise Refused(f"A rule that is {rule.status} is not tried any more.")
    if Canary.objects.live().filter(rule=rule).exists():
        raise Refused("A version of this rule is on trial or in shadow already.")
    if rule.status in LIVE and rule.live_version_id == version.pk:
        raise Refused(f"Version {version.number} is live already.")
