"""One look at a canary: every figure that follows from its evidence, each worked out once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, log
from typing import Any

from corrections.domain.effect.counts import ArmCounts
from corrections.domain.effect.eprocess import benefit_log_e, harm_log_e, mean_log_e
from corrections.domain.effect.evidence import Evidence, Limits
from corrections.domain.effect.many import e_bh
from corrections.domain.effect.ratio import sample_ratio_p
from corrections.domain.effect.uplift import Interval, uplift

_OWN = -1
_LARGEST_LOG = 700.0


@dataclass(frozen=True)
class Look:
    """The figures of one look, each worked out once."""

    evidence: Evidence
    limits: Limits

    @cached_property
    def harm(self) -> float:
        """log E for harm."""
        return harm_log_e(self.evidence.stages)

    @cached_property
    def benefit(self) -> float:
        """log E for benefit."""
        return benefit_log_e(self.evidence.stages)

    @cached_property
    def guardrails(self) -> Mapping[str, float]:
        """log E of each guardrail."""
        return {name: harm_log_e(stages) for name, stages in self.evidence.guardrails.items()}

    @cached_property
    def guard(self) -> float:
        """log E of the guardrails together: of the mean of their E."""
        return mean_log_e(self.guardrails.values())

    @cached_property
    def mismatch_p(self) -> float | None:
        """p-value of the split."""
        return sample_ratio_p(self.evidence.exposed)

    @cached_property
    def uplift(self) -> Interval | None:
        """Uplift with its bounds."""
        return uplift(self.evidence.stages, alpha=self.limits.alpha)

    @property
    def is_mismatch(self) -> bool:
        """The split is not the one that was asked for."""
        return self.mismatch_p is not None and self.mismatch_p < self.limits.mismatch_p

    @property
    def is_harmful(self) -> bool:
        """Harm is shown, several canaries counted in."""
        return _is_rejected(self.harm, self.evidence.other_harm, self.evidence.live, self.limits.alpha)

    @property
    def is_unsafe(self) -> bool:
        """A guardrail is broken, several canaries counted in."""
        return _is_rejected(self.guard, self.evidence.other_guard, self.evidence.live, self.limits.alpha)

    @property
    def loudest(self) -> float:
        """The larger log E of harm and of the guardrails together."""
        return max(self.harm, self.guard)

    def reaches(self, bound_e: float) -> bool:
        """Harm, or the guardrails together, say this much (an E, not its logarithm)."""
        return self.loudest >= log(bound_e)

    @property
    def is_suspect(self) -> bool:
        """Taken alone it would be rolled back; among several canaries it may have to wait."""
        return self.reaches(1.0 / self.limits.alpha)

    @property
    def is_quiet(self) -> bool:
        """Neither harm nor any single guardrail says anything yet."""
        return max(self.harm, *self.guardrails.values(), self.guard) < log(self.limits.quiet_e)

    @property
    def promote_at(self) -> float:
        """The E for benefit that promotes: 1/alpha for each live canary."""
        return max(self.evidence.live, 1) / self.limits.alpha

    @property
    def is_helpful(self) -> bool:
        """Benefit is shown, several canaries counted in."""
        return self.benefit >= log(self.promote_at)

    @property
    def is_useless(self) -> bool:
        """Even the upper bound of the uplift is next to nothing, and enough tasks went without the rule."""
        enough = self.without_rule >= self.limits.useless_n
        return enough and self.uplift is not None and self.uplift.upper < self.limits.useless_uplift

    @property
    def with_rule(self) -> int:
        """Decided tasks of the canary arm."""
        return sum(stage.canary.n for stage in self.evidence.stages)

    @property
    def without_rule(self) -> int:
        """Decided tasks of the control arm."""
        return sum(stage.control.n for stage in self.evidence.stages)

    @property
    def is_over(self) -> bool:
        """Its time is over."""
        return self.evidence.days_left is not None and self.evidence.days_left <= 0

    @property
    def is_above_first_share(self) -> bool:
        """There is a smaller share to go back to."""
        return self.evidence.share > self.limits.first_share

    @property
    def may_ramp(self) -> bool:
        """Enough tasks are decided, one of them with the rule, and nothing speaks against it."""
        is_looked_at = self.with_rule > 0 and self.evidence.decided >= self.limits.min_look
        return is_looked_at and self.is_quiet and self.evidence.share < self.limits.full_share


def numbers_of(look: Look) -> dict[str, Any]:
    """Every number of a look, as JSON values."""
    evidence, limits, interval = look.evidence, look.limits, look.uplift
    return {
        "state": evidence.state,
        "share": evidence.share,
        "canary": _arm([stage.canary for stage in evidence.stages]),
        "control": _arm([stage.control for stage in evidence.stages]),
        "exposed": sum(canary + control for _share, canary, control in evidence.exposed),
        "decided": evidence.decided,
        "harm_log_e": look.harm,
        "harm_e": raised(look.harm),
        "benefit_log_e": look.benefit,
        "benefit_e": raised(look.benefit),
        "guard_log_e": look.guard,
        "guard_e": raised(look.guard),
        "guardrails": {name: raised(value) for name, value in look.guardrails.items()},
        "uplift": interval
        and {"estimate": interval.estimate, "lower": interval.lower, "upper": interval.upper},
        "mismatch_p": look.mismatch_p,
        "live": evidence.live,
        "roll_back_at": 1.0 / limits.alpha,
        "promote_at": look.promote_at,
        "quiet_below": limits.quiet_e,
        "days_left": evidence.days_left,
    }


def raised(log_value: float) -> float:
    """E from its logarithm, capped so that it stays a number."""
    return exp(min(log_value, _LARGEST_LOG))


def shown_e(log_value: float) -> str:
    """E as a sentence shows it."""
    value = raised(log_value)
    if value >= 1e6:
        return f"10^{log_value / log(10):.0f}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def _is_rejected(own: float, others: Sequence[float], live: int, alpha: float) -> bool:
    """Canaries that live but are not among the others bring no evidence (E = 1)."""
    unknown = [0.0] * (live - 1 - len(others))
    return _OWN in e_bh({_OWN: own} | dict(enumerate([*others, *unknown])), alpha)


def _arm(stages: Sequence[ArmCounts]) -> dict[str, int]:
    return {"n": sum(arm.n for arm in stages), "failed": sum(arm.failed for arm in stages)}
