"""What the decision about a canary sees, the limits it keeps to, and what it comes to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from corrections.domain.canaries import BUCKETS, CanaryPolicy, in_buckets
from corrections.domain.effect.counts import StageCounts
from corrections.domain.effect.ratio import MISMATCH_P

Step = Literal["ramp", "brake", "roll_back", "promote", "hold", "wait", "blocked", "alarm"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Where evidence becomes a decision. Shares are fractions of the tasks (0 to 1).

    ``quiet_e`` and ``alarm_e`` are values of E. ``useless_uplift`` is the upper bound of the uplift below
    which a promoted rule is said to do no good any more, once ``useless_n`` tasks went without it.
    """

    alpha: float = 0.05
    min_look: int = 10
    first_share: float = 0.10
    full_share: float = 0.50
    quiet_e: float = 3.0
    alarm_e: float = 10.0
    mismatch_p: float = MISMATCH_P
    useless_uplift: float = 0.02
    useless_n: int = 200

    @classmethod
    def of(cls, policy: CanaryPolicy) -> "Limits":
        """The limits that a workspace set, shares rounded to buckets as canaries have them."""
        return cls(
            alpha=policy.alpha,
            min_look=policy.min_look,
            first_share=in_buckets(policy.first_share) / BUCKETS,
            full_share=in_buckets(policy.full_share) / BUCKETS,
        )


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """All that is known of one canary at one moment.

    ``share`` is the present one (0 to 1). ``trial`` and ``holdout`` are the stages of the two phases, decided
    tasks; ``exposed`` the stages of the present phase as (share, exposed canary, exposed control), decided
    or not; ``guardrails`` for each guardrail the stages of the present phase, where "failed" are its tasks.
    ``live`` is the number of canaries in the same phase, this one included, and ``other_harm`` and
    ``other_guard`` the log E of the others (those left out count as no evidence). ``days_left`` may be
    negative; None is no limit. ``is_human`` says that a person wrote the version.
    """

    state: str
    share: float
    trial: Sequence[StageCounts] = ()
    holdout: Sequence[StageCounts] = ()
    exposed: Sequence[tuple[float, int, int]] = ()
    guardrails: Mapping[str, Sequence[StageCounts]] = field(default_factory=dict)
    live: int = 1
    other_harm: Sequence[float] = ()
    other_guard: Sequence[float] = ()
    days_left: float | None = None
    is_human: bool = False

    @property
    def stages(self) -> Sequence[StageCounts]:
        """The stages of the present phase."""
        return self.holdout if self.state == "holdout" else self.trial

    @property
    def decided(self) -> int:
        """Decided tasks of the present phase."""
        return sum(stage.n for stage in self.stages)


@dataclass(frozen=True)
class Judgement:
    """What to do, the sentence a page shows, and every number that was looked at (JSON values).

    ``because`` in the numbers is the row of the table that decided.
    """

    step: Step
    reason: str
    numbers: dict[str, Any]
