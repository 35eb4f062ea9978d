"""A number to order rules by; it decides nothing."""

from corrections.domain.effect.counts import ArmCounts

PRIOR_WEIGHT = 2.0
"""How many tasks the backtest counts for."""


def beta_mean(arm: ArmCounts, *, prior: float = 0.5, weight: float = PRIOR_WEIGHT) -> float:
    """Posterior mean of the success rate of an arm under a Beta(weight prior, weight (1 - prior)) prior.

    ``prior`` is what the backtest lets expect (see :func:`corrections.domain.effectiveness.expected`). Gelman
    et al., "Bayesian Data Analysis", 3rd ed., section 2.4.

    Raises:
        ValueError: the prior is outside 0 to 1, or the weight is not positive.
    """
    if not 0.0 <= prior <= 1.0 or weight <= 0.0:
        raise ValueError("a prior is between 0 and 1, and its weight is positive")
    return (weight * prior + arm.succeeded) / (weight + arm.n)
