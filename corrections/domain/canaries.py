"""The life of a canary: its states, what may follow what, and a workspace's policy. Pure tables."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from corrections.domain.changes import InvalidPolicyError
from corrections.domain.lifecycle import Refused
from memory.domain.lifecycle import Transition, check_transition, statuses

SECTION = "canaries"
"""Where a workspace keeps its policy, in ``Workspace.settings``."""
BUCKETS = 10_000
"""Shares are counted in buckets: 1,000 of 10,000 is 10 %."""

CANARY_INITIAL = "waiting"
CANARY_TRANSITIONS: Mapping[str, Transition] = {
    "shadow": Transition(("waiting", "paused"), "shadow", "run in shadow"),
    "start": Transition(("waiting", "shadow"), "running", "started"),
    "ramp": Transition(("running",), "running", "ramped"),
    "pause": Transition(("shadow", "running", "held"), "paused", "paused"),
    "resume": Transition(("paused",), "running", "resumed"),
    "hold": Transition(("running",), "held", "held for a person"),
    "extend": Transition(("held",), "running", "given more time"),
    "promote": Transition(("waiting", "shadow", "running", "held", "paused"), "holdout", "promoted"),
    "roll_back": Transition(
        ("waiting", "shadow", "running", "held", "paused", "holdout"), "rolled_back", "rolled back"
    ),
    "end": Transition(("waiting", "shadow", "running", "paused", "held", "holdout"), "ended", "ended"),
}
"""``waiting``: another canary on the tool is in conflict with it. ``held``: its time is over without a
verdict and a person has to decide. ``holdout``: promoted; a few tasks go without the rule for good."""
CANARY_STATES = statuses(CANARY_INITIAL, CANARY_TRANSITIONS)
LIVE_STATES = ("waiting", "shadow", "running", "paused", "held", "holdout")
"""States of a canary that is not over; a rule has at most one such."""
SERVED_STATES = ("shadow", "running", "held", "holdout")
"""States in which its rule is handed to the engine, with a trial."""
TRYING_STATES = ("running", "held")
"""States in which it counts among the live canaries that share the risk of a false verdict."""
PHASES = ("shadow", "trial", "holdout")
"""What a stage is for. Evidence of one phase never counts in another."""
ARMS = ("canary", "control", "shadow")
ROLLOUTS = ("all", "canary")
"""How an approved version is published: to all tasks at once, or to some of them first."""
Rollout = Literal["all", "canary"]
EXCLUDING = ("contradictory", "shadowed", "interference", "loop", "redundant", "subsumed")
"""Findings about two rules that keep them from being on trial together on one tool: either would change what
is measured of the other."""


class CanaryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """``Workspace.settings["canaries"]``: which rules begin as a canary, and how canaries are run.

    ``start``: ``agents`` (what an agent, the inducer or a model wrote), ``all``, or ``never``: what is
    published then is served to all tasks at once. Shares are fractions of the tasks whose calls match.
    ``min_look``: exposed tasks before the first ramp. ``alpha``: the bound on false verdicts.
    ``rare_per_day``: a rule that matched fewer tasks a day than this starts at ``full_share``.
    ``shadow_first``: an approved rule first runs in shadow, until it met ``shadow_tasks`` tasks or for
    ``shadow_hours``.
    """

    start: Literal["agents", "all", "never"] = "agents"
    first_share: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.10
    full_share: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.50
    min_look: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 10
    alpha: Annotated[float, msgspec.Meta(ge=0.001, le=0.2)] = 0.05
    max_days: Annotated[int, msgspec.Meta(ge=1, le=365)] = 14
    holdout: Annotated[float, msgspec.Meta(ge=0, le=0.5)] = 0.05
    rare_per_day: Annotated[float, msgspec.Meta(ge=0, le=1_000_000)] = 20.0
    shadow_first: bool = False
    shadow_tasks: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 20
    shadow_hours: Annotated[float, msgspec.Meta(gt=0, le=24 * 90)] = 24.0


def read_canary_policy(settings: Mapping[str, Any]) -> CanaryPolicy:
    """The policy in a workspace's settings, the default where nothing is set; raises InvalidPolicyError."""
    try:
        return msgspec.convert(settings.get(SECTION, {}), CanaryPolicy)
    except msgspec.ValidationError as error:
        raise InvalidPolicyError(str(error)) from error


def safe_canary_policy(settings: Mapping[str, Any]) -> CanaryPolicy:
    """:func:`read_canary_policy`, and the default for settings that cannot be read."""
    try:
        return read_canary_policy(settings)
    except InvalidPolicyError:
        return CanaryPolicy()


def policy_of(stored: Mapping[str, Any]) -> CanaryPolicy:
    """The policy that a canary began with; the default where it cannot be read."""
    return safe_canary_policy({SECTION: stored})


def default_rollout(policy: CanaryPolicy, author_kind: str) -> Rollout:
    """How a version is published when nobody chose: by the policy and who wrote it (human or agent)."""
    starts = policy.start == "all" or (policy.start == "agents" and author_kind == "agent")
    return "canary" if starts else "all"


def on_trial_already(number: int) -> str:
    """Why a version is not asked for again while it is on trial."""
    return f"Version {number} is on trial already: promote its canary or roll it back."


def check_loosening(old: CanaryPolicy, new: CanaryPolicy) -> None:
    """Raise :class:`Refused` when ``new`` risks more tasks than ``old``: only a person may decide that.

    Another ``alpha`` does in either direction: a smaller one rolls back later. With fewer ``max_days`` a
    person's rule is promoted sooner.
    """
    strictness = ("never", "agents", "all")
    looser = (
        strictness.index(new.start) < strictness.index(old.start)
        or new.alpha != old.alpha
        or any(getattr(new, name) > getattr(old, name) for name in ("first_share", "full_share"))
        or any(
            getattr(new, name) < getattr(old, name)
            for name in ("min_look", "holdout", "shadow_tasks", "max_days")
        )
        or (old.shadow_first and not new.shadow_first)
        or new.rare_per_day > old.rare_per_day
        or new.shadow_hours < old.shadow_hours
    )
    if looser:
        raise Refused("An API key may make this policy stricter, not looser: that takes a person.")


def check_canary(state: str, step: str) -> str:
    """The state after ``step``; raises :class:`memory.domain.lifecycle.TransitionError`."""
    return check_transition(CANARY_TRANSITIONS, step, state)


def in_buckets(share: float) -> int:
    """A fraction of the tasks in buckets, at least one and never all."""
    return min(max(round(share * BUCKETS), 1), BUCKETS - 1)
