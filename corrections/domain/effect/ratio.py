"""Is the split between the arms the one that was asked for? If not, no figure can be trusted."""

from collections.abc import Sequence
from math import erfc, sqrt

MISMATCH_P = 0.001
"""Below this the split is wrong, and every verdict is blocked (DESIGN: chi-square)."""
MIN_EXPOSED = 100
"""Exposed tasks before the split is judged."""


def sample_ratio_p(stages: Sequence[tuple[float, int, int]]) -> float | None:
    """The p-value of the chi-square test (one degree of freedom) of canary tasks against those expected.

    ``stages`` are (share of the canary arm 0 to 1, exposed tasks in the canary arm, in the control arm);
    expected tasks and their variances add up over the stages. Exposed tasks count, decided or not. None below
    ``MIN_EXPOSED`` tasks. Fabijan et al., "Diagnosing sample ratio mismatch", KDD 2019.

    Raises:
        ValueError: a share outside 0 to 1, or a negative count.
    """
    if any(not 0.0 < share < 1.0 or canary < 0 or control < 0 for share, canary, control in stages):
        raise ValueError("shares lie strictly between 0 and 1, counts are not negative")
    if sum(canary + control for _share, canary, control in stages) < MIN_EXPOSED:
        return None
    surplus = sum(canary - share * (canary + control) for share, canary, control in stages)
    variance = sum(share * (1.0 - share) * (canary + control) for share, canary, control in stages)
    return erfc(abs(surplus) / sqrt(2.0 * variance))
