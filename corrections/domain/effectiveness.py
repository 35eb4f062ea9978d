"""How well a correction works, from what came after it was applied: a Beta posterior that forgets.

An outcome is *helped* (the correction was applied and the call then worked) or *failed*. Success of a call is
what is counted, not whether the task was solved: a repaired call may still answer another question.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from corrections.domain.beta import quantile

PRIOR_WEIGHT = 1.0
"""How many outcomes the backtest counts for: it saw that such calls fail, not that the correction helps."""
MIN_OUTCOMES = 3
MEMORY = 20.0
"""Outcomes after which an old one counts about a third (1/e)."""
LEVEL = 0.9
"""Probability of either one-sided bound."""
USEFUL = 0.5
"""A correction whose calls fail more often than not is no good: the plain error would say more."""


class Verdict(StrEnum):
    """What the evidence says about a rule."""

    UNKNOWN = "not enough data"
    KEEP = "keep"
    RETIRE = "retire"


@dataclass(frozen=True)
class Effect:
    """What is known of one rule under one state of the world.

    ``prior`` is the mean expected before any outcome. ``helped`` and ``failed`` are outcomes, old ones
    discounted; ``outcomes`` counts them whole. ``world`` names what the evidence is about (the schema of the
    tool, the version of the environment).
    """

    prior: float = 0.5
    helped: float = 0.0
    failed: float = 0.0
    outcomes: int = 0
    world: str = ""

    @property
    def alpha(self) -> float:
        """First parameter of the posterior Beta distribution."""
        return PRIOR_WEIGHT * self.prior + self.helped

    @property
    def beta(self) -> float:
        """Second parameter of the posterior Beta distribution."""
        return PRIOR_WEIGHT * (1.0 - self.prior) + self.failed

    @property
    def mean(self) -> float:
        """Posterior mean, 0 to 1 (Gelman et al., "Bayesian Data Analysis", 3rd ed., section 2.4)."""
        return self.alpha / (self.alpha + self.beta)

    @property
    def lower(self) -> float:
        """The rate is above this with probability ``LEVEL``: a quantile of the posterior."""
        return quantile(1.0 - LEVEL, self.alpha, self.beta)

    @property
    def upper(self) -> float:
        """The rate is below this with probability ``LEVEL``."""
        return quantile(LEVEL, self.alpha, self.beta)

    @property
    def verdict(self) -> Verdict:
        """``RETIRE`` when even the upper bound says that it does no good; nothing before ``MIN_OUTCOMES``."""
        if self.outcomes < MIN_OUTCOMES:
            return Verdict.UNKNOWN
        return Verdict.RETIRE if self.upper < USEFUL else Verdict.KEEP


def expected(caught: int, good_hit: int) -> float:
    """The mean to start from: Laplace's rule of succession over the backtest (failures met, good calls hit).

    Raises:
        ValueError: a count is negative.
    """
    if caught < 0 or good_hit < 0:
        raise ValueError("counts cannot be negative")
    return (caught + 1) / (caught + good_hit + 2)


def observe(effect: Effect, *, helped: bool, world: str = "") -> Effect:
    """One more outcome.

    Evidence about another world is dropped. Otherwise what was known is discounted first, which lets the
    posterior follow a rate that changes (exponential forgetting; West and Harrison, "Bayesian Forecasting and
    Dynamic Models", 2nd ed., section 6.3).
    """
    if world != effect.world:
        effect = Effect(prior=effect.prior, world=world)
    kept = 1.0 - 1.0 / MEMORY
    return replace(
        effect,
        helped=effect.helped * kept + helped,
        failed=effect.failed * kept + (not helped),
        outcomes=effect.outcomes + 1,
    )


def observe_all(effect: Effect, outcomes: Iterable[bool], *, world: str = "") -> Effect:
    """Outcomes in the order in which they happened."""
    for helped in outcomes:
        effect = observe(effect, helped=helped, world=world)
    return effect


def served(effect: Effect) -> float | None:
    """The number rules are ordered by, None while there is not enough data: the lower bound, 3 digits."""
    return None if effect.outcomes < MIN_OUTCOMES else round(effect.lower, 3)


def brier(predictions: Iterable[tuple[float, bool]]) -> float | None:
    """Mean squared distance between what was expected and what came (Brier 1950); None for no prediction."""
    squares = [(expected_rate - came) ** 2 for expected_rate, came in predictions]
    return sum(squares) / len(squares) if squares else None
