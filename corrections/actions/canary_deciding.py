"""Decisions about a canary, carried out: by the controller with what it judged, and by people."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from corrections.actions.canary_alerts import alert_about, tell_of
from corrections.actions.canary_rows import move_canary, next_stage, note, open_control_tasks
from corrections.actions.gate import Publication
from corrections.actions.locking import stamp_ruleset
from corrections.actions.publishing import publish
from corrections.domain.canaries import BUCKETS, in_buckets, policy_of
from corrections.domain.lifecycle import Refused, Status
from corrections.models import Canary, Rule
from hgmem.rules import RuleError
from memory.domain.access import Actor


def to_share(
    canary: Canary, share: int, *, kind: str, by: Actor, reason: str, numbers: Mapping[str, Any]
) -> None:
    """Begin a stage with another share (in buckets); ``kind`` is ramp, brake or share.

    When it goes up, control tasks that are still open stay in control.
    """
    if share > canary.share:
        canary.kept = open_control_tasks(canary)
    old = canary.share
    next_stage(canary, "trial", share, now=timezone.now())
    facts = dict(numbers) | {"share_from": old / BUCKETS, "share_to": share / BUCKETS}
    move_canary(canary, "ramp", by=by, reason=reason, numbers=facts, kind=kind)


def hold(canary: Canary, *, by: Actor, reason: str, numbers: Mapping[str, Any]) -> None:
    """Its time is over: a person has to decide. It goes on being served as it is."""
    move_canary(canary, "hold", by=by, reason=reason, numbers=numbers)
    alert_about(canary, "canary_held", reason=reason, numbers=numbers, by=by)
    tell_of(canary, "canary.held", numbers, reason=reason)


def stop(canary: Canary, *, by: Actor, reason: str, numbers: Mapping[str, Any]) -> None:
    """It does harm and cannot be rolled back: nobody gets the version until a person has decided."""
    move_canary(canary, "pause", by=by, reason=reason, numbers=numbers)
    alert_about(canary, "canary_held", reason=reason, numbers=numbers, by=by)
    tell_of(canary, "canary.held", numbers, reason=reason)


def promote(canary: Canary, *, by: Actor, reason: str, numbers: Mapping[str, Any]) -> None:
    """Serve the version to all tasks but a holdout, which tells when it stops doing good.

    Raises what :func:`corrections.actions.publishing.publish` raises.
    """
    item = Publication(canary.rule, Status.ACTIVE, canary.version, "promote_rule", canary=canary)
    canary.rule = publish([item], by=by, reason=reason)[0]
    now, holdout = timezone.now(), policy_of(canary.policy).holdout
    canary.kept, canary.ends_at, canary.evidence_since = [], None, now
    canary.started_at = canary.started_at or now
    canary.evidence = {}
    next_stage(canary, "holdout", in_buckets(1 - holdout), now=now)
    move_canary(canary, "promote", by=by, reason=reason, numbers=numbers)
    if not holdout:
        move_canary(canary, "end", by=by, reason="This workspace keeps no holdout.")
    tell_of(canary, "canary.promoted", numbers, reason=reason)


def roll_back(canary: Canary, *, by: Actor, reason: str, numbers: Mapping[str, Any]) -> None:
    """Serve the version no more, and ask people to look.

    A new rule is disabled; of an edit the version before stays, or comes back after a promotion. Where it
    cannot come back any more (its window has ended, a ruling forbids it), nothing of the rule is served.
    Raises what :func:`corrections.actions.publishing.publish` raises.
    """
    canary.rule = _serve_no_more(canary, by=by, reason=reason)
    move_canary(canary, "roll_back", by=by, reason=reason, numbers=numbers)
    stamp_ruleset(canary.workspace_id)
    alert_about(canary, "canary_rolled_back", reason=reason, numbers=numbers, by=by)
    tell_of(canary, "canary.rolled_back", numbers, reason=reason)


def _serve_no_more(canary: Canary, *, by: Actor, reason: str) -> Rule:
    nothing = Publication(canary.rule, Status.DISABLED, None, "roll_back_rule", canary=canary)
    if canary.baseline is None:
        return publish([nothing], by=by, reason=reason)[0]
    before = Publication(canary.rule, Status.ACTIVE, canary.baseline, "roll_back_rule", canary=canary)
    try:
        with transaction.atomic():
            return publish([before], by=by, reason=reason)[0]
    except (Refused, RuleError) as refusal:
        if canary.state != "holdout":
            raise
        return publish([nothing], by=by, reason=f"{reason} The version before cannot come back: {refusal}")[0]


def warn(canary: Canary, kind: str, *, by: Actor, reason: str, numbers: Mapping[str, Any]) -> None:
    """Note and alert: the arms do not match (``blocked``), a promoted rule does no good (``alarm``)."""
    note(canary, kind, numbers=numbers, by=by, reason=reason)
    name = "canary_mismatch" if kind == "blocked" else "canary_alarm"
    alert_about(canary, name, reason=reason, numbers=numbers, by=by)
