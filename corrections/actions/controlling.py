"""The controller: looks at canaries, lets the statistics judge, and carries out what they say.

Any number of workers may do this at once, and one may be killed anywhere: each canary is looked at in one
transaction with its row locked, and what was decided is read there again. So a decision is taken once, with
everything that belongs to it, or not at all.
"""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, transaction
from django.db.models import F, Q, QuerySet

from corrections.actions.canary_deciding import hold, promote, roll_back, to_share, warn
from corrections.actions.canary_looks import keep_counts, keep_look
from corrections.actions.canary_resets import reset_evidence
from corrections.actions.canary_rows import lock_canary
from corrections.actions.canary_starting import end_canary, start_if_free
from corrections.domain.canaries import LIVE_STATES, in_buckets, policy_of
from corrections.domain.effect.evidence import Judgement, Limits
from corrections.domain.effect.judging import judge
from corrections.domain.lifecycle import Refused
from corrections.models import Canary
from corrections.queries.canary_counts import stage_counts
from corrections.queries.canary_evidence import evidence_of
from hgmem.rules import RuleError
from memory.domain.access import Actor, check_may

log = logging.getLogger(__name__)
AT_MOST = 200
AGAIN_AFTER = timedelta(seconds=30)
"""A canary that nobody called due is looked at all the same: its time may be over."""
JUDGED = ("running", "held", "holdout")
WARNINGS = ("blocked", "alarm")


def look_at_canaries(*, now: datetime, by: Actor) -> int:
    """The clock: look at every canary that has news or whose time may be over; how many were looked at.

    A fault in one holds up no other. Raises :class:`NotPermitted`.
    """
    check_may(by, "steer_canary")
    ids = list(_due(now).values_list("pk", flat=True)[:AT_MOST])
    return sum(_look_safely(pk, now, by) for pk in ids)


def _due(now: datetime) -> QuerySet[Canary]:
    """Those with news, those that wait, and those nobody looked at for a while; the longest unseen first."""
    unseen = Q(looked_at=None) | Q(looked_at__lt=now - AGAIN_AFTER)
    rows = Canary.objects.filter(
        Q(is_due=True, state__in=(*JUDGED, "shadow")) | Q(state="waiting") | (Q(state__in=JUDGED) & unseen)
        | Q(state="shadow", change__isnull=False)
        | Q(state__in=(*JUDGED, "shadow"), version__valid_until__lte=now)
    )  # fmt: skip
    return rows.order_by(F("looked_at").asc(nulls_first=True), "pk")


def _look_safely(pk: int, now: datetime, by: Actor) -> bool:
    try:
        with transaction.atomic():
            return look_at(Canary.objects.select_related("rule").get(pk=pk), now=now, by=by)
    except Canary.DoesNotExist:
        return False
    except DatabaseError:
        log.exception("A canary could not be looked at; the next turn tries again.")
    except Exception:
        log.exception("A canary could not be looked at.")
        Canary.objects.filter(pk=pk).update(looked_at=now)
    return False


def look_at(canary: Canary, *, now: datetime, by: Actor) -> bool:
    """Look at one canary, in the caller's transaction; False when it is over or has nothing to look at."""
    locked = lock_canary(canary)
    if _is_past(locked, now):
        end_canary(locked, by=by, reason="The version's time has run out.")
        return True
    if locked.state in (*JUDGED, "shadow"):
        reset_evidence(locked, now=now, by=by)
    if locked.state in JUDGED:
        _judge(locked, now, by)
        return True
    if locked.state == "shadow":
        _watch(locked, now)
    if locked.state in ("waiting", "shadow") and locked.change_id is not None:
        start_if_free(locked, by=by)
        Canary.objects.filter(pk=locked.pk).update(looked_at=now)
    return locked.state in ("waiting", "shadow")


def _is_past(canary: Canary, now: datetime) -> bool:
    """Whether the window of a version beside the live one has ended: it would keep that one from acting."""
    ends = canary.version.valid_until
    is_beside = canary.rule.live_version_id != canary.version_id
    return canary.state in LIVE_STATES and is_beside and ends is not None and ends <= now


def _watch(canary: Canary, now: datetime) -> None:
    """What a shadow run has seen so far."""
    counted = stage_counts(canary, phases=["shadow"])
    exposed = sum(stage.arm("shadow").exposed for stage in counted)
    canary.evidence = {"state": "shadow", "exposed": exposed}
    canary.is_due, canary.looked_at = False, now
    canary.save(update_fields=["evidence", "is_due", "looked_at"])
    keep_counts(canary, counted)


def _judge(canary: Canary, now: datetime, by: Actor) -> None:
    evidence, counted = evidence_of(canary, now)
    judgement = judge(evidence, rules=Limits.of(policy_of(canary.policy)))
    before = dict(canary.evidence)
    numbers = judgement.numbers | {"step": judgement.step, "reason": judgement.reason}
    keep_look(canary, numbers, counted, now=now)
    try:
        with transaction.atomic():
            carry_out(canary, judgement, numbers, before=before, by=by)
    except (Refused, RuleError) as refusal:  # a ruling would be broken, or the version's window has ended
        _give_to_people(Canary.objects.get(pk=canary.pk), judgement, numbers, str(refusal), by)


def carry_out(
    canary: Canary, judgement: Judgement, numbers: Mapping[str, Any], *, before: Mapping[str, Any], by: Actor
) -> None:
    """Do what was judged about a locked canary. ``before`` is what the look before this one saw.

    A warning is given once for as long as its cause lasts. Raises :class:`Refused`,
    :class:`hgmem.rules.RuleError` when a promotion is not possible any more.
    """
    step, reason = judgement.step, judgement.reason
    said: dict[str, Any] = {"by": by, "reason": reason, "numbers": numbers}
    if step in ("ramp", "brake"):
        to_share(canary, in_buckets(judgement.numbers["share_to"]), kind=step, **said)
    elif step == "roll_back":
        roll_back(canary, **said)
    elif step == "promote":
        promote(canary, **said)
    elif step == "hold":
        hold(canary, **said)
    elif step in WARNINGS and (before.get("step"), before.get("because")) != (step, numbers.get("because")):
        warn(canary, step, **said)


def _give_to_people(
    canary: Canary, judgement: Judgement, numbers: Mapping[str, Any], why: str, by: Actor
) -> None:
    """What was judged is not possible any more: a person has to decide. Said once."""
    locked = lock_canary(canary)
    if locked.state == "running":
        hold(locked, by=by, reason=f"{judgement.reason} But: {why}", numbers=numbers)
