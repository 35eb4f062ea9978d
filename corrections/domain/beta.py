"""The Beta distribution: its share below a point, and the point below which a share lies."""

from math import exp, lgamma, log, log1p

_TINY = 1e-300
_STEPS = 300
_CLOSE = 1e-12
_HALVINGS = 50


def share_below(point: float, alpha: float, beta: float) -> float:
    """The regularized incomplete beta function I_x(a, b) (DLMF 8.17; continued fraction 8.17.22).

    Raises:
        ValueError: a parameter is not positive.
    """
    if alpha <= 0 or beta <= 0:
        raise ValueError("the parameters of a Beta distribution are positive")
    if point <= 0.0:
        return 0.0
    if point >= 1.0:
        return 1.0
    scale = lgamma(alpha + beta) - lgamma(alpha) - lgamma(beta)
    front = exp(scale + alpha * log(point) + beta * log1p(-point))
    if point < (alpha + 1.0) / (alpha + beta + 2.0):
        return front * _fraction(point, alpha, beta) / alpha
    return 1.0 - front * _fraction(1.0 - point, beta, alpha) / beta


def quantile(share: float, alpha: float, beta: float) -> float:
    """The point below which a share (0 to 1) of the distribution lies, by bisection, to about 1e-15.

    Raises:
        ValueError: the share is outside 0 to 1, or a parameter is not positive.
    """
    if not 0.0 <= share <= 1.0:
        raise ValueError("a share is between 0 and 1")
    low, high = 0.0, 1.0
    for _halving in range(_HALVINGS):
        middle = (low + high) / 2.0
        if share_below(middle, alpha, beta) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0


def _fraction(point: float, alpha: float, beta: float) -> float:
    """The continued fraction by Lentz's method as modified by Thompson and Barnett (1986)."""
    numerator, inverse = 1.0, 1.0 / _away(1.0 - (alpha + beta) * point / (alpha + 1.0))
    found = inverse
    for step in range(1, _STEPS):
        even = step * (beta - step) * point / ((alpha + 2 * step - 1) * (alpha + 2 * step))
        odd = -(alpha + step) * (alpha + beta + step) * point / ((alpha + 2 * step) * (alpha + 2 * step + 1))
        for term in (even, odd):
            inverse = 1.0 / _away(1.0 + term * inverse)
            numerator = _away(1.0 + term / numerator)
            change = numerator * inverse
            found *= change
        if abs(change - 1.0) < _CLOSE:
            break
    return found


def _away(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
