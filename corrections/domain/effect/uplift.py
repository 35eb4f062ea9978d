"""How much better tasks went with the rule: an interval that holds at every moment at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt

from corrections.domain.effect.counts import ArmCounts, StageCounts

TIGHT_AT = 5.0
"""Accumulated variance at which the interval is tightest: some 200 tasks, half of them in the canary arm, of
which a tenth fails."""


@dataclass(frozen=True)
class Interval:
    """A difference in success rates (-1 to 1), and bounds that hold at all times together."""

    estimate: float
    lower: float
    upper: float


def uplift(stages: Sequence[StageCounts], *, alpha: float = 0.05) -> Interval | None:
    """Success rate with the rule minus without, over the stages; None with no decided task in an arm.

    Stages weigh as in the Mantel-Haenszel risk difference (n1 n0 / n; Greenland and Robins, Biometrics 1985).
    The bounds are an asymptotic confidence sequence: Robbins' normal mixture over the accumulated variance
    (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit theory and asymptotic
    confidence sequences", Annals of Statistics 2024). The variance of an arm is taken with one success and
    one failure added, so that an arm without a failure does not look certain.

    Raises:
        ValueError: alpha is not strictly between 0 and 1.
    """
    if not 0.0 < alpha < 1.0:
        raise ValueError("alpha lies strictly between 0 and 1")
    compared = [stage for stage in stages if stage.canary.n and stage.control.n]
    weight = sum(_weight(stage) for stage in compared)
    if not weight:
        return None
    canary, control = _pooled(compared)
    estimate = sum(_weight(stage) * _difference(stage) for stage in compared) / weight
    variance = sum(
        _weight(stage) ** 2 * (_variance(canary) / stage.canary.n + _variance(control) / stage.control.n)
        for stage in compared
    )
    half = _margin(variance, alpha) / weight
    return Interval(estimate, max(estimate - half, -1.0), min(estimate + half, 1.0))


def _margin(variance: float, alpha: float) -> float:
    """The boundary that a sum with this variance crosses, on either side, with probability <= alpha."""
    spread = (-2.0 * log(alpha) + log(1.0 - 2.0 * log(alpha))) / TIGHT_AT
    grown = variance * spread + 1.0
    return sqrt(grown / spread * log(grown / alpha**2))


def _weight(stage: StageCounts) -> float:
    return stage.canary.n * stage.control.n / stage.n


def _difference(stage: StageCounts) -> float:
    return stage.canary.succeeded / stage.canary.n - stage.control.succeeded / stage.control.n


def _pooled(stages: Sequence[StageCounts]) -> tuple[ArmCounts, ArmCounts]:
    canary, control = [stage.canary for stage in stages], [stage.control for stage in stages]
    return (
        ArmCounts(sum(arm.n for arm in canary), sum(arm.failed for arm in canary)),
        ArmCounts(sum(arm.n for arm in control), sum(arm.failed for arm in control)),
    )


def _variance(arm: ArmCounts) -> float:
    return (arm.failed + 1.0) * (arm.succeeded + 1.0) / (arm.n + 2.0) ** 2
