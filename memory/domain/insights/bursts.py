"""Bursts: hours in which a pattern failed far more often than it usually does for that much work.

Failures rise when there is more to do, so a pattern is compared with the calls of its tool in the same
hours, not with the clock. Only hours in which the workspace did anything take part.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import hypergeom, poisson

Hour = int
"""Hours since 1970, in UTC."""
LEAST_HOURS = 24
"""Before so many active hours there is no usual rate."""
LEAST_FAILURES = 3
RARE = 1e-3
"""An hour is a burst when so many failures or more have at most this chance at the usual rate (Poisson)."""
LEAST_SHARED = 2
CHANCE = 0.01
"""Two patterns are linked when their shared bursts have at most this chance, over all pairs together."""
MOST_IN_HOUR = 100
"""Of the patterns that burst in one hour, so many are compared."""


@dataclass(frozen=True)
class Coincidence:
    """Two patterns whose bursts fall into the same hours: ``share`` is the Jaccard index of their hours."""

    one: int
    other: int
    hours: tuple[Hour, ...]
    share: float


def burst_hours(
    failures: Mapping[Hour, int], calls: Mapping[Hour, int], active: Iterable[Hour]
) -> frozenset[Hour]:
    """The hours in which a pattern failed far above its usual rate.

    ``calls`` are its tool's calls by hour; hours without any count as one call, so that a rate exists. The
    usual rate is that of all other active hours (with half a failure added: a pattern that never failed
    otherwise has a small rate, not none).
    """
    hours = sorted(set(active) | set(failures))
    if len(hours) < LEAST_HOURS:
        return frozenset()
    work = {hour: max(calls.get(hour, 0), 1) for hour in hours}
    all_work, all_failures = sum(work.values()), sum(failures.values())
    many = [hour for hour, count in failures.items() if count >= LEAST_FAILURES]
    if not many:
        return frozenset()
    count = np.array([failures[hour] for hour in many])
    here = np.array([work[hour] for hour in many])
    usual = (all_failures - count + 0.5) / (all_work - here) * here
    chances = poisson.sf(count - 1, usual)
    return frozenset(hour for hour, chance in zip(many, chances, strict=True) if chance <= RARE)


def coincidences(
    bursts: Mapping[int, frozenset[Hour]], tools: Mapping[int, str], active: int
) -> list[Coincidence]:
    """Pairs of patterns of different tools whose bursts meet more often than by chance, in a fixed order.

    The chance of a meeting is hypergeometric: so many of ``active`` hours drawn twice. Hours of one incident
    hang together, so it says "in the same incident", not "in many incidents".
    """
    bursting = sorted(pattern for pattern, hours in bursts.items() if hours)
    by_hour: dict[Hour, list[int]] = defaultdict(list)
    for pattern in bursting:
        for hour in bursts[pattern]:
            by_hour[hour].append(pattern)
    shared: dict[tuple[int, int], list[Hour]] = defaultdict(list)
    for hour in sorted(by_hour):
        for one, other in combinations(by_hour[hour][:MOST_IN_HOUR], 2):
            if tools[one] != tools[other]:
                shared[one, other].append(hour)
    pairs = max(1, len(bursting) * (len(bursting) - 1) // 2)
    found = []
    for (one, other), hours in sorted(shared.items()):
        if len(hours) >= LEAST_SHARED:
            first, second = len(bursts[one]), len(bursts[other])
            chance = float(hypergeom.sf(len(hours) - 1, max(active, first, second), first, second))
            if chance <= CHANCE / pairs:
                share = len(hours) / (first + second - len(hours))
                found.append(Coincidence(one, other, tuple(hours), share))
    return found
