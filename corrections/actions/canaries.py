"""Steering canaries. This is what callers import; every action takes a reason and leaves an event."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from corrections.actions.canary_deciding import promote, roll_back, to_share
from corrections.actions.canary_policies import set_canary_policy
from corrections.actions.canary_rows import lock_canary, move_canary, phase_of
from corrections.actions.canary_shadows import start_shadow, stop_shadow
from corrections.actions.canary_starting import end_canary
from corrections.actions.locking import lock_stamp
from corrections.domain.canaries import BUCKETS, in_buckets
from corrections.domain.lifecycle import ReasonMissing, Refused
from corrections.models import Canary
from corrections.queries.canary_neighbours import hindrance_of
from memory.domain.access import Actor, NotPermitted, check_may

__all__ = [
    "STEERS", "Steer", "end_holdout", "extend_canary", "pause_canary", "promote_canary", "resume_canary",
    "roll_back_canary", "set_canary_policy", "set_share", "start_shadow", "stop_shadow", "why_not_steer",
]  # fmt: skip
MAX_DAYS = 365


@dataclass(frozen=True)
class Steer:
    """What a person may do with a canary: the permission, and the states in which it makes sense."""

    permission: str
    states: tuple[str, ...]
    says: str


STEERS: Mapping[str, Steer] = {
    "pause": Steer("stop_canary", ("shadow", "running", "held"), "Only a canary that runs can be paused"),
    "resume": Steer("steer_canary", ("paused",), "Only a paused canary can be resumed"),
    "promote": Steer(
        "steer_canary", ("waiting", "shadow", "running", "held", "paused"), "It is promoted or over already"
    ),
    "roll_back": Steer(
        "stop_canary", ("waiting", "shadow", "running", "held", "paused", "holdout"), "It is over already"
    ),
    "extend": Steer("steer_canary", ("running", "held"), "Only a canary on trial can be given more time"),
    "end_holdout": Steer("steer_canary", ("holdout",), "There is no holdout to end"),
    "set_share": Steer("steer_canary", ("running",), "Only the share of a canary that runs can be set"),
    "stop_shadow": Steer("draft_rule", ("shadow", "paused"), "It does not run in shadow"),
}
"""What people can do, by name, in the order in which buttons stand."""


def why_not_steer(canary: Canary, do: str, by: Actor) -> str:
    """The sentence that refuses ``do`` (a key of ``STEERS``) to this actor now, "" when it may be tried."""
    try:
        _check(canary, do, by)
    except (Refused, NotPermitted) as refusal:
        return str(refusal)
    return ""


@transaction.atomic
def pause_canary(*, canary: Canary, by: Actor, reason: str) -> Canary:
    """Serve the version to nobody for now: control's behaviour for all tasks; its time stands still.

    Raises :class:`NotPermitted`, :class:`Refused`, :class:`ReasonMissing`.
    """
    locked = _taken(canary, "pause", by, reason)
    move_canary(locked, "pause", by=by, reason=reason)
    return locked


@transaction.atomic
def resume_canary(*, canary: Canary, by: Actor, reason: str) -> Canary:
    """Go on where it was paused, unless another canary disturbs it now. Raises as :func:`pause_canary`."""
    locked = _taken(canary, "resume", by, reason)
    is_shadow = phase_of(locked) == "shadow"
    if not is_shadow:
        lock_stamp(locked.workspace_id)
        if (hindrance := hindrance_of(locked, timezone.now())) is not None:
            raise Refused(hindrance.reason)
    paused = locked.events.filter(kind="pause").order_by("-pk").first()
    if paused is not None and locked.ends_at is not None:
        locked.ends_at += timezone.now() - paused.at
    locked.is_due = True
    move_canary(locked, "shadow" if is_shadow else "resume", by=by, reason=reason, kind="resume")
    return locked


@transaction.atomic
def promote_canary(*, canary: Canary, by: Actor, reason: str) -> Canary:
    """Serve the version to all tasks but the holdout, whatever the evidence says.

    Raises as :func:`pause_canary`, and what :func:`corrections.actions.publishing.publish` raises.
    """
    locked = _taken(canary, "promote", by, reason)
    promote(locked, by=by, reason=reason, numbers=locked.evidence)
    return locked


@transaction.atomic
def roll_back_canary(*, canary: Canary, by: Actor, reason: str) -> Canary:
    """Serve the version no more: a new rule is disabled, of an edit the version before stays or comes back.

    Raises as :func:`promote_canary`.
    """
    locked = _taken(canary, "roll_back", by, reason)
    if locked.change_id is None:
        raise Refused("Nobody approved this version: stop its shadow run instead.")
    roll_back(locked, by=by, reason=reason, numbers=locked.evidence)
    return locked


@transaction.atomic
def extend_canary(*, canary: Canary, days: int, by: Actor, reason: str) -> Canary:
    """Give it ``days`` (1 to 365) more from now on, or from its end where that is later.

    Raises as :func:`pause_canary`.
    """
    if not 1 <= days <= MAX_DAYS:
        raise Refused(f"A canary is given 1 to {MAX_DAYS} days.")
    locked = _taken(canary, "extend", by, reason)
    now = timezone.now()
    locked.ends_at = max(now, locked.ends_at or now) + timedelta(days=days)
    move_canary(locked, "extend", by=by, reason=reason, numbers={"days": days}, state="running")
    return locked


@transaction.atomic
def end_holdout(*, canary: Canary, by: Actor, reason: str) -> Canary:
    """Serve a promoted rule to the last tasks as well. Raises as :func:`pause_canary`."""
    locked = _taken(canary, "end_holdout", by, reason)
    end_canary(locked, by=by, reason=reason)
    return locked


@transaction.atomic
def set_share(*, canary: Canary, share: float, by: Actor, reason: str) -> Canary:
    """From now on ``share`` (above 0, below 1) of the tasks get the version, as a stage of its own.

    Control tasks that are open stay where they are when it goes up. Raises as :func:`pause_canary`.
    """
    if not 0 < share < 1:
        raise Refused("A share is above 0 % and below 100 %.")
    locked = _taken(canary, "set_share", by, reason)
    if in_buckets(share) == locked.share:
        raise Refused(f"Its share is {locked.share / BUCKETS:.2%} already.")
    to_share(locked, in_buckets(share), kind="share", by=by, reason=reason, numbers=locked.evidence)
    return locked


def _taken(canary: Canary, do: str, by: Actor, reason: str) -> Canary:
    """The locked canary, when the actor may do this to it now and says why."""
    check_may(by, STEERS[do].permission, within=canary.workspace_id)
    if not reason.strip():
        raise ReasonMissing("Say why: the reason stays with the canary.")
    locked = lock_canary(canary)
    _check(locked, do, by)
    return locked


def _check(canary: Canary, do: str, by: Actor) -> None:
    steer = STEERS[do]
    check_may(by, steer.permission, within=canary.workspace_id)
    if canary.state not in steer.states:
        raise Refused(f"{steer.says}: this one is {canary.state.replace('_', ' ')}.")
    if do == "promote" and canary.change_id is None:
        raise Refused("Nobody approved this version yet: its change request comes first.")
