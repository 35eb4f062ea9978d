"""The uplift that is shown of a rule: what its canary measured, and its holdout since."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from corrections.domain.canaries import BUCKETS
from corrections.domain.canary_counts import StageNumbers
from corrections.domain.effect import ArmCounts, Interval, StageCounts, uplift
from corrections.models import Canary, CanaryEvent, Rule
from corrections.queries.canary_counts import stage_counts

ENOUGH = 10
"""Decided tasks that each arm must have before a number is shown."""


@dataclass(frozen=True)
class RuleUplift:
    """Success rate with the rule minus without it (-1 to 1), with bounds that hold at any moment."""

    interval: Interval
    n_canary: int
    n_control: int
    since: datetime
    version: int
    phase: str

    def to_dict(self) -> dict[str, Any]:
        """As it is stored and served: three digits."""
        found = {name: round(getattr(self.interval, name), 3) for name in ("estimate", "lower", "upper")}
        return found | {
            "n_canary": self.n_canary, "n_control": self.n_control, "since": self.since.isoformat(),
            "version": self.version, "phase": self.phase,
        }  # fmt: skip


def uplift_of(rule: Rule) -> RuleUplift | None:
    """What the newest canary of the live version measured; None: not enough data. Four queries.

    The holdout once both of its arms have ``ENOUGH`` decided tasks, before that the trial: never both
    together. What came before the tool's schema changed is left out.
    """
    canary = _canary_of(rule)
    if canary is None or rule.live_version is None:
        return None
    reset = CanaryEvent.objects.filter(canary=canary, kind="reset").order_by("-pk").first()
    first_stage = int(reset.numbers["stage"]) if reset else 0
    begun = dict(canary.stages.values_list("number", "begun_at"))
    stages = [one for one in stage_counts(canary, of_all_time=True) if one.number >= first_stage]
    for phase in ("holdout", "trial"):
        known = [stage for stage in stages if stage.phase == phase]
        found = _measured(known)
        if found is not None:
            interval, canary_arm, control_arm = found
            first = min(begun[stage.number] for stage in known)
            return RuleUplift(interval, canary_arm, control_arm, first, rule.live_version.number, phase)
    return None


def _canary_of(rule: Rule) -> Canary | None:
    rows = Canary.objects.filter(rule=rule, version=rule.live_version_id, started_at__isnull=False)
    return rows.defer("kept").order_by("-pk").first()


def _measured(stages: Sequence[StageNumbers]) -> tuple[Interval, int, int] | None:
    counted = [
        StageCounts(stage.share / BUCKETS, _arm(stage, "canary"), _arm(stage, "control"))
        for stage in stages
        if stage.arms
    ]
    n_canary = sum(stage.canary.n for stage in counted)
    n_control = sum(stage.control.n for stage in counted)
    if min(n_canary, n_control) < ENOUGH:
        return None
    interval = uplift(counted)
    return (interval, n_canary, n_control) if interval else None


def _arm(stage: StageNumbers, name: str) -> ArmCounts:
    numbers = stage.arm(name)
    return ArmCounts(numbers.decided, numbers.failed)
