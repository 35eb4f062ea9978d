"""Histograms of durations with logarithmic buckets: small, addable, and a quantile of known error.

Bucket ``i`` holds durations in (GAMMA^(i-1), GAMMA^i] milliseconds. Its value, 2 GAMMA^i / (GAMMA + 1), is at
most (GAMMA - 1) / (GAMMA + 1) = 4.8 % off (Masson, Rim, Lee: DDSketch, VLDB 2019). Durations are taken for at
least 0.01 ms and at most about 3 years.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil, isfinite, log, sqrt
from typing import Any

GAMMA = 1.1
LOWEST, HIGHEST = -48, 265
RELATIVE_ERROR = (GAMMA - 1) / (GAMMA + 1)
Z = 1.96

Buckets = Mapping[int, int]
"""Number of durations by bucket."""


def bucket_of(ms: float) -> int:
    """The bucket of a duration in milliseconds."""
    if not isfinite(ms):
        return HIGHEST
    return min(max(ceil(log(ms) / log(GAMMA)), LOWEST), HIGHEST) if ms > 0 else LOWEST


def value_of(bucket: int) -> float:
    """The duration that stands for a bucket, in milliseconds."""
    return float(2 * GAMMA**bucket / (GAMMA + 1))


def merge(histograms: Iterable[Mapping[Any, int]]) -> dict[int, int]:
    """The sum of histograms of one kind; what is empty is left out.

    Buckets may be numbers, or texts as JSON has them: thousands of histograms are added without reading each.
    """
    total: dict[Any, int] = defaultdict(int)
    for buckets in histograms:
        for bucket, count in buckets.items():
            total[bucket] += count
    return {bucket: count for bucket, count in sorted((int(key), n) for key, n in total.items()) if count > 0}


@dataclass(frozen=True)
class Quantile:
    """A quantile in milliseconds with a 95 % interval. ``is_known`` is False where ``n`` is too small.

    ``high`` is None where the interval has no upper end among the durations seen.
    """

    n: int
    value: float
    low: float
    high: float | None
    is_known: bool


def quantile(buckets: Buckets, share: float) -> Quantile:
    """The quantile with the order statistics interval n p +- 1.96 sqrt(n p (1 - p)).

    The interval asks for no distribution (Conover, Practical Nonparametric Statistics, 3.2) and goes to the
    outer edges of its buckets. It is known from 10 durations on either side of the quantile on: n p >= 10 and
    n (1 - p) >= 10, for p95 n >= 200.
    """
    order = sorted((bucket, count) for bucket, count in buckets.items() if count > 0)
    n = sum(count for _bucket, count in order)
    if not n:
        return Quantile(0, 0.0, 0.0, None, is_known=False)
    half = Z * sqrt(n * share * (1 - share))
    low, high = n * share - half, n * share + half
    top = GAMMA ** _at(order, high + 1) if high + 1 <= n else None
    is_known = min(n * share, n * (1 - share)) >= 10 - 1e-9
    return Quantile(n, value_of(_at(order, n * share)), GAMMA ** (_at(order, low) - 1), top, is_known)


def _at(order: list[tuple[int, int]], rank: float) -> int:
    """The bucket of the duration with that rank (from 1)."""
    passed = 0
    for bucket, count in order:
        passed += count
        if passed >= rank:
            return bucket
    return order[-1][0]
