"""How canaries begin: opened by a publication, waiting while others disturb, in shadow or on trial."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from secrets import token_hex
from typing import Any

import msgspec
from django.utils import timezone

from corrections.actions.canary_alerts import tell_of
from corrections.actions.canary_resets import note_schema
from corrections.actions.canary_rows import move_canary, next_stage, note, phase_of
from corrections.actions.gate import Publication
from corrections.actions.locking import lock_stamp
from corrections.domain.canaries import BUCKETS, CanaryPolicy, in_buckets, policy_of, safe_canary_policy
from corrections.models import Canary, CanaryEvent, Rule, RuleVersion
from corrections.queries.canary_neighbours import hindrance_of
from corrections.queries.canary_rates import matches_per_day
from memory.actions import Event, record_events
from memory.domain.access import Actor

AT_ONCE = 5
"""Canaries that a publication starts itself; of more the controller starts each."""
ENDED_BY = {
    "activate_rule": "Another version was served to all tasks.",
    "try_rule": "Another version went on trial.",
    "disable_rule": "The rule was disabled.",
    "retire_rule": "The rule was retired.",
    "delete_rule": "The rule was deleted.",
    "expire_rule": "The rule's time has run out.",
}


def follow_publications(
    publications: Sequence[Publication], rules: Mapping[int, Rule], *, by: Actor, reason: str
) -> None:
    """End the canaries that lose their subject with a publication, and open those that were asked for.

    In the publication's transaction, with the rules locked. A decision about a canary moves its row itself.
    """
    running = {
        canary.rule_id: canary
        for canary in Canary.objects.live()
        .filter(rule__in=list(rules))
        .select_related("workspace", "version")
        .select_for_update(of=("self",))
    }
    fresh: list[Canary] = []
    for item in publications:
        canary = running.get(item.rule.pk)
        if item.canary is not None:
            continue
        if canary is not None:
            canary.rule = rules[item.rule.pk]
            if _is_shadow_of(canary, item):
                _adopt(canary, item, by=by)
                fresh.append(canary)
                continue
            end_canary(canary, by=by, reason=ENDED_BY.get(item.verb, "What is served has changed."))
        if item.trial is not None:
            fresh.append(_new(item, rules[item.rule.pk], by))
    _open([canary for canary in fresh if canary.pk is None], by=by, reason=reason)
    if len(fresh) <= AT_ONCE:
        for canary in fresh:
            start_if_free(canary, by=by)


def end_canary(canary: Canary, *, by: Actor, reason: str) -> None:
    """A locked canary is over without a verdict."""
    move_canary(canary, "end", by=by, reason=reason)


def start_if_free(canary: Canary, *, by: Actor) -> bool:
    """Begin a locked canary whose change is approved, unless something is in the way; whether it began.

    What is in the way is noted once. The workspace's stamp is locked, so of two canaries that disturb each
    other only one can begin.
    """
    now, policy = timezone.now(), policy_of(canary.policy)
    begins = canary.version.valid_from
    if begins is not None and begins > now:
        _wait(canary, f"It is valid from {begins:%Y-%m-%d %H:%M} (UTC) on.", {}, by=by)
        return False
    if canary.state == "shadow" and policy.shadow_first and not is_shadow_over(canary, policy, now):
        return False
    if policy.shadow_first and not phase_of(canary) and canary.state == "waiting":
        begin_shadow(canary, by=by, reason="It runs in shadow first.")
        return True
    lock_stamp(canary.workspace_id)
    hindrance = hindrance_of(canary, now)
    if hindrance is not None:
        _wait(canary, hindrance.reason, hindrance.facts(), by=by)
        return False
    _begin(canary, policy, now, by=by)
    return True


def begin_shadow(canary: Canary, *, by: Actor, reason: str) -> None:
    """From now on its matches are noted, and nothing is done."""
    now = timezone.now()
    next_stage(canary, "shadow", 0, now=now)
    canary.started_at = canary.started_at or now
    canary.evidence_since, canary.is_due = now, False
    move_canary(canary, "shadow", by=by, reason=reason)


def is_shadow_over(canary: Canary, policy: CanaryPolicy, now: datetime) -> bool:
    """Whether a shadow that runs before a canary has seen enough tasks, or its time is over."""
    since = canary.evidence_since or canary.requested_at
    if now >= since + timedelta(hours=policy.shadow_hours):
        return True
    seen = canary.exposures.filter(arm="shadow", stage=canary.stage)
    return seen.count() >= policy.shadow_tasks


def _is_shadow_of(canary: Canary, item: Publication) -> bool:
    """A shadow of this very version, not yet approved: the trial goes on from it."""
    if item.trial is None or canary.change_id is not None or canary.version_id != item.trial.pk:
        return False
    return canary.state == "shadow" or (canary.state == "paused" and phase_of(canary) == "shadow")


def _adopt(canary: Canary, item: Publication, *, by: Actor) -> None:
    """The change of a version that runs in shadow was approved: it may go on trial."""
    canary.change, canary.baseline = item.change, _baseline(item, canary.rule)
    canary.policy = msgspec.to_builtins(safe_canary_policy(canary.workspace.settings))
    canary.is_due, canary.updated_at = True, timezone.now()
    canary.save()
    note(canary, "approve", by=by, reason="Its change request was approved.")
    if canary.state == "paused":
        move_canary(canary, "shadow", by=by, reason="Its change request was approved.")


def _new(item: Publication, rule: Rule, by: Actor) -> Canary:
    now = timezone.now()
    return Canary(
        workspace=rule.workspace, rule=rule, version=item.trial, baseline=_baseline(item, rule),
        change=item.change, salt=token_hex(16), requested_by=by.name[:200], requested_at=now, updated_at=now,
        policy=msgspec.to_builtins(safe_canary_policy(rule.workspace.settings)), is_due=True,
    )  # fmt: skip


def _baseline(item: Publication, rule: Rule) -> RuleVersion | None:
    return rule.live_version if item.status == "active" else None


def _open(canaries: Sequence[Canary], *, by: Actor, reason: str) -> None:
    """Rows, events and audit in three statements, however many."""
    if not canaries:
        return
    Canary.objects.bulk_create(canaries)
    now = timezone.now()
    CanaryEvent.objects.bulk_create(
        CanaryEvent(
            canary=canary, kind="open", by=by.name[:200], by_kind=by.kind, reason=reason[:2_000], at=now
        )
        for canary in canaries
    )  # fmt: skip
    record_events(
        by=by,
        events=[
            Event(
                workspace=canary.workspace, verb="open_canary", subject=canary, reason=reason,
                new={"rule": str(canary.rule.uuid), "version": canary.version.number},
            )
            for canary in canaries
        ],
    )  # fmt: skip


def _wait(canary: Canary, why: str, facts: Mapping[str, Any], *, by: Actor) -> None:
    if canary.state_reason == why:
        return
    canary.state_reason, canary.updated_at = why, timezone.now()
    canary.save(update_fields=["state_reason", "updated_at"])
    note(canary, "wait", numbers=facts, by=by, reason=why)


def _begin(canary: Canary, policy: CanaryPolicy, now: datetime, *, by: Actor) -> None:
    per_day = matches_per_day(canary, now)
    is_rare = per_day is not None and per_day < policy.rare_per_day
    share = in_buckets(policy.full_share if is_rare else policy.first_share)
    next_stage(canary, "trial", share, now=now)
    canary.started_at = canary.started_at or now
    canary.evidence_since, canary.is_due = now, False
    canary.ends_at = now + timedelta(days=policy.max_days)
    note_schema(canary)
    numbers = {"share": share / BUCKETS, "per_day": per_day, "rare": is_rare, "days": policy.max_days}
    known = f"about {per_day:.1f} matching tasks a day" if per_day is not None else "no matches known yet"
    move_canary(
        canary, "start", by=by, numbers=numbers, reason=f"It begins with {share / BUCKETS:.0%} ({known})."
    )
    tell_of(canary, "canary.started", numbers)
