"""Which sequences go with success, and how sure that is. It is an association: nobody drew lots."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import erfc, exp, log, sqrt
from typing import Literal

import numpy as np
from scipy.stats import hypergeom

from memory.domain.insights.sequences import FALSE_SHARE, LEAST_TASKS, Count, Tools

Verdict = Literal["winning", "losing", "unclear", "rare"]
Z = 1.96
Stratum = tuple[Count, Count]
"""Tasks of one domain: those with the sequence, and all of them."""


@dataclass(frozen=True)
class Lift:
    """P(success | sequence) / P(success) with a 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Rank:
    """What is said about a sequence. ``strength`` orders those of one verdict, the surest first.

    ``is_closed`` is False for one that always comes inside the same longer one: that one says it all.
    """

    is_closed: bool
    lift: Lift | None
    verdict: Verdict
    strength: float


def lift_of(count: Count, whole: Count) -> Lift | None:
    """The lift of a sequence among the tasks of its kind; None where the kind only won or only lost.

    log lift = log a - log(a + b) - log(a + c) + log N for a won with the sequence, b lost with it, c won
    without it, N tasks. Its variance by the delta method over the four cells, each plus 1/2 (Haldane 1956):
    1/a - 1/(a + b) - 1/(a + c) + 2a / ((a + b)(a + c)) - 1/N.
    """
    if not whole.won or not whole.lost or not count.tasks:
        return None
    won, lost = count.won + 0.5, count.lost + 0.5
    won_else = max(whole.won - count.won, 0) + 0.5
    everything = won + lost + won_else + max(whole.lost - count.lost, 0) + 0.5
    held, all_won = won + lost, won + won_else
    variance = 1 / won - 1 / held - 1 / all_won + 2 * won / (held * all_won) - 1 / everything
    middle, half = log(won * everything / (held * all_won)), Z * sqrt(max(variance, 0.0))
    plain = (count.won / count.tasks) / (whole.won / whole.tasks)
    return Lift(plain, min(exp(middle - half), plain), max(exp(middle + half), plain))


def lift_over(strata: Sequence[Stratum]) -> Lift | None:
    """The lift of a sequence over several domains: successes over those expected at each domain's own rate.

    Else a sequence of a hard domain would look bad, whatever it does (Simpson 1951). The interval is that of
    the successes, binomial in each domain; None where nothing is expected or everything is sure.
    """
    won = sum(count.won for count, _ in strata)
    expected = sum(count.tasks * whole.won / whole.tasks for count, whole in strata if whole.tasks)
    doubtful = [(count, whole) for count, whole in strata if whole.won and whole.lost and count.tasks]
    if not expected or not doubtful:
        return None
    shares = [(count.tasks, (count.won + 0.5) / (count.tasks + 1)) for count, _ in doubtful]
    variance = sum(tasks * share * (1 - share) for tasks, share in shares) / (won + 0.5) ** 2
    middle, half = log((won + 0.5) / (expected + 0.5)), Z * sqrt(variance)
    plain = won / expected
    return Lift(plain, min(exp(middle - half), plain), max(exp(middle + half), plain))


def chance_over(strata: Sequence[Stratum]) -> float:
    """How often chance splits domains like that (Cochran, Mantel and Haenszel; 1959)."""
    apart, variance = 0.0, 0.0
    for count, whole in strata:
        if whole.tasks > 1:
            held, total = min(count.tasks, whole.tasks), whole.tasks
            apart += count.won - held * whole.won / total
            variance += held * (total - held) * whole.won * whole.lost / (total * total * (total - 1))
    return erfc(max(abs(apart) - 0.5, 0.0) / sqrt(2 * variance)) if variance > 0 else 1.0


def rank_sequences(
    rows: Sequence[tuple[Tools, Count]],
    whole: Count,
    strata: Mapping[Tools, Sequence[Stratum]] | None = None,
) -> list[Rank]:
    """What to say about each sequence of one kind, in their order.

    ``strata`` are the domains of a sequence, where the kind holds tasks of several.
    """
    closed = closed_ones(rows)
    parts = strata or {}
    lifts = [lift_over(parts[tools]) if tools in parts else lift_of(count, whole) for tools, count in rows]
    judged = [
        place
        for place, (_, count) in enumerate(rows)
        if closed[place] and lifts[place] and count.tasks >= LEAST_TASKS
    ]
    chances = _chances([rows[place][1] for place in judged], whole)
    for seat, place in enumerate(judged):
        if rows[place][0] in parts:
            chances[seat] = chance_over(parts[rows[place][0]])
    sure = {place for place, is_sure in zip(judged, _surely(chances), strict=True) if is_sure}
    return [_rank(closed[place], lifts[place], count, place in sure) for place, (_, count) in enumerate(rows)]


def closed_ones(rows: Sequence[tuple[Tools, Count]]) -> list[bool]:
    """Whether no sequence one step longer holds each one and was in just as many tasks, with the same ends.

    If a much longer one was, then so was one between the two.
    """
    counts = {tools: (count.won, count.lost) for tools, count in rows}
    covered = set()
    for tools, count in rows:
        for shorter in (tools[1:], tools[:-1]):
            if counts.get(shorter) == (count.won, count.lost):
                covered.add(shorter)
    return [tools not in covered for tools, _ in rows]


def _rank(is_closed: bool, lift: Lift | None, count: Count, is_sure: bool) -> Rank:
    if count.tasks < LEAST_TASKS:
        return Rank(is_closed, lift, "rare", 0.0)
    if lift is None or not is_sure or lift.low <= 1.0 <= lift.high:
        return Rank(is_closed, lift, "unclear", 0.0)
    if lift.value > 1.0:
        return Rank(is_closed, lift, "winning", lift.low)
    return Rank(is_closed, lift, "losing", 1 / max(lift.high, 1e-9))


def _chances(counts: Sequence[Count], whole: Count) -> list[float]:
    """Fisher's exact test, two-sided by doubling: how often such a split comes about by chance."""
    if not counts:
        return []
    won = np.array([count.won for count in counts])
    held = np.array([count.tasks for count in counts])
    everything = max(whole.tasks, int(held.max()))
    all_won = min(max(whole.won, int(won.max())), everything)
    many = hypergeom.sf(won - 1, everything, all_won, held)
    few = hypergeom.cdf(won, everything, all_won, held)
    return [float(min(1.0, 2 * min(one, other))) for one, other in zip(many, few, strict=True)]


def _surely(chances: Sequence[float]) -> list[bool]:
    """Benjamini and Hochberg's step-up procedure at ``FALSE_SHARE``."""
    order = sorted(range(len(chances)), key=lambda place: chances[place])
    last = 0
    for step, place in enumerate(order, start=1):
        if chances[place] <= FALSE_SHARE * step / len(chances):
            last = step
    chosen = set(order[:last])
    return [place in chosen for place in range(len(chances))]
