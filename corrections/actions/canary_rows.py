"""A canary's row: locking it, its stages, and noting what was decided with which numbers."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone

from corrections.actions.locking import lock_rule, stamp_ruleset
from corrections.domain.canaries import LIVE_STATES, SERVED_STATES, check_canary
from corrections.domain.lifecycle import Refused
from corrections.models import Canary, CanaryEvent, CanaryStage, Exposure
from memory.actions import record_event
from memory.domain.access import Actor

MAX_REASON = 2_000
MAX_KEPT = 20_000
"""Control tasks that a ramp leaves where they are: the newest that are still open."""


def lock_canary(canary: Canary) -> Canary:
    """The canary as it is now, locked behind its rule until the transaction ends."""
    rule = lock_rule(canary.rule)
    rows = Canary.objects.select_related("workspace", "version", "baseline", "change")
    locked = rows.select_for_update(of=("self",), no_key=True).get(pk=canary.pk)
    locked.rule = rule
    return locked


def move_canary(
    canary: Canary, step: str, *, by: Actor, reason: str, numbers: Mapping[str, Any] | None = None,
    kind: str = "", state: str = "",
) -> None:  # fmt: skip
    """Take a step of the table with a locked canary, note it, and stamp what is served where that changes.

    The caller has set the other columns; all are saved. ``kind`` is the event's where it is not the step,
    ``state`` the one that a resumed canary goes back to. Raises :class:`TransitionError`.
    """
    old, now = canary.state, timezone.now()
    canary.state = state or check_canary(old, step)
    canary.state_reason, canary.updated_at = reason.strip()[:MAX_REASON], now
    if canary.state not in LIVE_STATES:
        canary.ended_at, canary.ended_by, canary.is_due = now, by.name[:200], False
        end_stage(canary, now)
    canary.save()
    note(canary, kind or step, numbers=numbers, by=by, reason=reason, old_state=old)
    if {old, canary.state} & set(SERVED_STATES):
        stamp_ruleset(canary.workspace_id)


def note(
    canary: Canary, kind: str, *, by: Actor, reason: str, numbers: Mapping[str, Any] | None = None,
    old_state: str = "",
) -> CanaryEvent:  # fmt: skip
    """One event of a canary with the numbers it saw, and its audit row."""
    said, facts = reason.strip()[:MAX_REASON], dict(numbers or {})
    event = CanaryEvent.objects.create(
        canary=canary, kind=kind, numbers=facts, by=by.name[:200], by_kind=by.kind, reason=said,
        at=timezone.now(),
    )  # fmt: skip
    record_event(
        by=by, workspace=canary.workspace, verb=f"{kind}_canary", subject=canary, reason=said,
        old={"state": old_state or canary.state},
        new={"state": canary.state, "stage": canary.stage, "share": canary.share, "numbers": facts},
    )  # fmt: skip
    return event


def next_stage(canary: Canary, phase: str, share: int, *, now: datetime) -> None:
    """Close the stage there is and begin the next; the caller saves the canary."""
    last = end_stage(canary, now)
    canary.stage = last.number + 1 if last else 0
    canary.share = share
    CanaryStage.objects.create(canary=canary, number=canary.stage, phase=phase, share=share, begun_at=now)


def end_stage(canary: Canary, now: datetime) -> CanaryStage | None:
    """The newest stage, over now; None before the first."""
    last = canary.stages.order_by("-number").first()
    if last is not None and last.ended_at is None:
        last.ended_at = now
        last.save(update_fields=["ended_at"])
    return last


def phase_of(canary: Canary) -> str:
    """The phase of the newest stage; "" before the first."""
    return canary.stages.order_by("-number").values_list("phase", flat=True).first() or ""


def open_control_tasks(canary: Canary) -> list[str]:
    """Digests of control tasks whose end is not known: a ramp must not move them. The newest ``MAX_KEPT``."""
    rows = Exposure.objects.filter(canary=canary, arm="control", failed=None).order_by("-pk")
    return sorted(rows.values_list("unit_digest", flat=True)[:MAX_KEPT])


def check_live(canary: Canary) -> None:
    """Raise :class:`Refused` when a canary is over."""
    if canary.state not in LIVE_STATES:
        raise Refused(f"This canary is over: it was {canary.state.replace('_', ' ')}.")
