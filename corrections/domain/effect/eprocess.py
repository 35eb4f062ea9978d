"""Evidence for harm and for benefit that may be looked at after every task.

Only failed tasks speak. If the rule changes nothing, a failed task is in the canary arm with the probability
of the assignment (the share p), whatever the base rate is and however it drifts. So K failures in the canary
arm and M in control are compared with p: the likelihood ratio, averaged over the alternatives theta > p, is a
nonnegative martingale with mean 1, and by Ville's inequality it ever reaches 1/alpha with a probability of at
most alpha. Multinomial mixture: Lindon and Malek, "Anytime-valid inference for multinomial count data",
NeurIPS 2022; the prior is uniform on (p, 1), so it tests "no worse than control", not "exactly the same".
"""

from collections.abc import Iterable, Sequence
from math import exp, log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincc, betaln

from corrections.domain.effect.counts import StageCounts

Floats = NDArray[np.float64]

_FAR = 1e-200
"""Below this tail probability the ratio is computed without the tail, which would underflow."""
_TINY = 1e-300
_STEPS = 20_000
_CLOSE = 1e-14


def log_e(canary_failed: ArrayLike, control_failed: ArrayLike, share: ArrayLike) -> Floats:
    """Natural logarithm of the evidence for harm of one stage, elementwise (arrays broadcast).

    ``log E = betaln(K+1, M+1) + log P(Beta(K+1, M+1) > p) - log(1-p) - K log p - M log(1-p)``

    Far below the mean this is ``log(p / (M+1) * 2F1(K+M+2, 1; M+2; 1-p))`` (DLMF 8.17.8), which neither
    underflows nor cancels. Counts are numbers >= 0, the share lies strictly between 0 and 1.
    """
    failed, without, p = np.broadcast_arrays(
        np.asarray(canary_failed, float), np.asarray(control_failed, float), np.asarray(share, float)
    )
    tail = betaincc(failed + 1.0, without + 1.0, p)
    near = tail > _FAR
    with np.errstate(divide="ignore"):
        found = np.asarray(
            betaln(failed + 1.0, without + 1.0)
            + np.log(tail)
            - failed * np.log(p)
            - (without + 1.0) * np.log1p(-p)
        )
    if not near.all():
        far = ~near
        found = np.where(near, found, 0.0)
        found[far] = (
            np.log(p[far]) - np.log(without[far] + 1.0) + _log_series(failed[far], without[far], p[far])
        )
    return found


def harm_log_e(stages: Sequence[StageCounts]) -> float:
    """Evidence that tasks fail more often with the rule than without: log E, summed over the stages.

    Stages are independent bets, so their E multiply. 0.0 without a failed task.
    """
    return sum(float(log_e(stage.canary.failed, stage.control.failed, stage.share)) for stage in stages)


def benefit_log_e(stages: Sequence[StageCounts]) -> float:
    """Evidence that tasks fail less often with the rule: the mirror image, the arms and p against 1-p."""
    return sum(float(log_e(stage.control.failed, stage.canary.failed, 1.0 - stage.share)) for stage in stages)


def mean_log_e(log_es: Iterable[float]) -> float:
    """The logarithm of the mean of e-values, which is an e-value however they depend on each other.

    Vovk and Wang, "E-values: calibration, combination and applications", Annals of Statistics 2021. 0.0 for
    none: no evidence.
    """
    known = list(log_es)
    if not known:
        return 0.0
    largest = max(known)
    return largest + log(sum(exp(value - largest) for value in known) / len(known))


def _log_series(failed: Floats, without: Floats, p: Floats) -> Floats:
    """log 2F1(K+M+2, 1; M+2; 1-p), by the continued fraction DLMF 8.17.22 (Lentz's method)."""
    alpha, beta, point = without + 1.0, failed + 1.0, 1.0 - p
    numerator: Any = np.ones_like(point)
    inverse = 1.0 / _away(1.0 - (alpha + beta) * point / (alpha + 1.0))
    found = inverse.copy()
    for step in range(1, _STEPS):
        even = step * (beta - step) * point / ((alpha + 2 * step - 1) * (alpha + 2 * step))
        odd = -(alpha + step) * (alpha + beta + step) * point / ((alpha + 2 * step) * (alpha + 2 * step + 1))
        for term in (even, odd):
            inverse = 1.0 / _away(1.0 + term * inverse)
            numerator = _away(1.0 + term / numerator)
            change = numerator * inverse
            found *= change
        if np.all(np.abs(change - 1.0) < _CLOSE):
            break
    return np.asarray(np.log(found))


def _away(values: Floats) -> Floats:
    return np.where(np.abs(values) > _TINY, values, _TINY)
