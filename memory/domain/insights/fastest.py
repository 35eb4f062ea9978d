"""Which way is fastest in a situation: ways ranked by the expected time to a successful result.

An attempt that fails has to be made again, so with T the time of an attempt and S whether it succeeds, the
expected time to a success is E[T] / E[S]: the mean time, failed attempts included, over the success rate. Its
interval is that of a ratio of means (delta method; Cochran, Sampling Techniques, 6.3).
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Self

from memory.domain.insights.ways import THEN, Tries
from memory.domain.trends import Rate, rate_of

ENOUGH_TRIES = 10
ENOUGH_SUCCESSES = 3
Z = 1.96


@dataclass(frozen=True)
class Situation:
    """Where a planner stands: None or empty means that anything will do.

    ``before`` is the tool that was called last, ``(start)`` at the beginning of a task.
    """

    before: str | None = None
    domain: str | None = None
    tags: tuple[str, ...] = ()

    @classmethod
    def read(cls, after: str, domain: str, tags: str) -> Self:
        """From texts, with commas between tags; what is empty is anything."""
        named = {tag.strip() for tag in tags.split(",")} - {""}
        return cls(after or None, domain or None, tuple(sorted(named)))

    def said(self) -> dict[str, object]:
        """As JSON."""
        return {"after": self.before, "domain": self.domain, "tags": list(self.tags)}


@dataclass(frozen=True)
class Seen:
    """Attempts by one way in one situation."""

    before: str
    domain: str
    tags: str
    way: str
    tries: Tries


@dataclass(frozen=True)
class Way:
    """One way: attempts, success rate, mean time of an attempt, expected time to a success with its interval.

    Times are in milliseconds; None where nothing succeeded. ``steps`` are the tools of a sequence, one for a
    call. ``is_known``: there is enough data to believe the order.
    """

    way: str
    steps: tuple[str, ...]
    n: int
    succeeded: int
    rate: Rate
    mean_ms: float
    expected_ms: float | None
    low_ms: float | None
    high_ms: float | None

    @property
    def is_known(self) -> bool:
        """Whether enough attempts, and enough successful ones, were seen."""
        return self.n >= ENOUGH_TRIES and self.succeeded >= ENOUGH_SUCCESSES


@dataclass(frozen=True)
class Answer:
    """The ways, fastest first (those with enough data before the others), and what was asked for.

    ``used`` is the situation they were seen in; ``widened`` names what had to be left out of the question to
    find enough of them, in that order.
    """

    asked: Situation
    used: Situation
    widened: tuple[str, ...]
    ways: list[Way] = field(default_factory=list)

    @property
    def is_known(self) -> bool:
        """Whether the first way has enough data."""
        return bool(self.ways) and self.ways[0].is_known


def find_fastest(seen: Sequence[Seen], tool: str, asked: Situation, *, most: int = 10) -> Answer:
    """Rank the ways to a result of ``tool`` in the situation asked for, or in the nearest wider one.

    Tags are left out first, then the domain, then the tool before, until a way has enough data. Without the
    tool before, sequences are left out: each includes calls that others made earlier.
    """
    narrowest: Answer | None = None
    for used, widened in _wider(asked):
        answer = Answer(asked, used, widened, _rank(_within(seen, tool, used))[:most])
        if answer.is_known:
            return answer
        if narrowest is None or (answer.ways and not narrowest.ways):
            narrowest = answer
    return narrowest or Answer(asked, asked, ())


def _wider(asked: Situation) -> Iterable[tuple[Situation, tuple[str, ...]]]:
    """The situation, then without one thing after the other."""
    used, widened = asked, tuple[str, ...]()
    yield used, widened
    steps: list[tuple[str, bool, Callable[[Situation], Situation]]] = [
        ("tags", bool(asked.tags), lambda now: Situation(now.before, now.domain)),
        ("domain", asked.domain is not None, lambda now: Situation(now.before)),
        ("after", asked.before is not None, lambda _now: Situation()),
    ]
    for name, is_asked, widen in steps:
        if is_asked:
            used, widened = widen(used), (*widened, name)
            yield used, widened


def _within(seen: Iterable[Seen], tool: str, used: Situation) -> dict[str, Tries]:
    """The attempts of each way in that situation."""
    found: dict[str, Tries] = {}
    wanted = set(used.tags)
    for item in seen:
        if used.before is None and THEN in item.way and not item.way.startswith(f"{tool}("):
            continue
        if used.before is not None and item.before != used.before:
            continue
        if used.domain is not None and item.domain != used.domain:
            continue
        if wanted and not wanted <= set(json.loads(item.tags)):
            continue
        found.setdefault(item.way, Tries()).add(item.tries)
    return found


def _rank(found: dict[str, Tries]) -> list[Way]:
    ways = [way_of(way, tries) for way, tries in found.items() if tries.n]
    return sorted(
        ways,
        key=lambda way: (not way.is_known, way.expected_ms is None, way.expected_ms or 0.0, -way.n, way.way),
    )


def way_of(way: str, tries: Tries) -> Way:
    """What the attempts by one way amount to."""
    n, won = tries.n, tries.succeeded
    mean, rate = tries.ms_sum / n, won / n
    expected = low = high = None
    if won:
        expected = mean / rate
        time_var = max(0.0, tries.ms_squares / n - mean * mean)
        cross = tries.ms_succeeded / n - mean * rate
        spread = time_var - 2 * expected * cross + expected * expected * rate * (1 - rate)
        half = Z * sqrt(max(0.0, spread) / n) / rate
        low, high = max(0.0, expected - half), expected + half
    is_sequence = THEN in way and "(" not in way
    steps = tuple(way.split(THEN)) if is_sequence else (way,)
    return Way(way, steps, n, won, rate_of(won, n), mean, expected, low, high)
