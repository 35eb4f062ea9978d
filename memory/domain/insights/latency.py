"""How fast tools are, from the counted cells: quantiles with intervals, failure rates, lines over days."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from memory.domain.insights.histograms import Quantile, merge, quantile
from memory.domain.insights.shapes import OTHER_SHAPES
from memory.domain.insights.speed import Speed
from memory.domain.trends import Rate, rate_of

P50, P95 = 0.5, 0.95


@dataclass(frozen=True)
class Latency:
    """Calls under one name (a tool, a shape of its parameters, a day).

    ``n`` calls, ``timed`` of them with a known duration; times in milliseconds.
    """

    name: str
    n: int
    timed: int
    failed: Rate
    p50: Quantile
    p95: Quantile
    mean_ms: float | None

    @property
    def is_other(self) -> bool:
        """Whether it stands for all the shapes that are not told apart."""
        return self.name == OTHER_SHAPES


def latency_of(name: str, cells: Iterable[Speed]) -> Latency:
    """All cells together, under a name."""
    found = list(cells)
    n, timed = sum(cell.n for cell in found), sum(cell.timed for cell in found)
    buckets = merge(cell.buckets for cell in found)
    ms = sum(cell.ms_sum for cell in found)
    return Latency(
        name=name,
        n=n,
        timed=timed,
        failed=rate_of(sum(cell.failed for cell in found), n),
        p50=quantile(buckets, P50),
        p95=quantile(buckets, P95),
        mean_ms=ms / timed if timed else None,
    )


def by_name(cells: Mapping[tuple[date, str], Speed]) -> list[Latency]:
    """The cells of (day, name) by name, most calls first, without what nobody called any more."""
    groups: dict[str, list[Speed]] = {}
    for (_day, name), cell in cells.items():
        groups.setdefault(name, []).append(cell)
    found = [latency_of(name, group) for name, group in groups.items()]
    return sorted((item for item in found if item.n), key=lambda item: (-item.n, item.name))


def by_day(cells: Mapping[tuple[date, str], Speed], days: Sequence[date]) -> list[Latency]:
    """The cells of (day, name) by day, in the order of ``days``; a day without calls has none."""
    groups: dict[date, list[Speed]] = {}
    for (day, _name), cell in cells.items():
        groups.setdefault(day, []).append(cell)
    return [latency_of(day.isoformat(), groups.get(day, [])) for day in days]
