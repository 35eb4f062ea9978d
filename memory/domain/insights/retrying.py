"""What retries cost, from the counted cells: extra calls, extra time and their shares."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from memory.domain.insights.retries import Cost
from memory.domain.trends import Rate, rate_of


@dataclass(frozen=True)
class RetryCost:
    """The cost under one name: ``call_share`` of all calls were retries, ``time_share`` of the time.

    ``success`` is the share of the chains of retries that ended with a working call; times in milliseconds.
    ``time_share`` is None where no call, or no retry, said how long it took.
    """

    name: str
    cost: Cost
    call_share: Rate
    time_share: float | None
    success: Rate


def cost_of(name: str, costs: Iterable[Cost], whole: Cost | None = None) -> RetryCost:
    """All costs together; shares are of ``whole`` where it is given (a pattern has no calls itself)."""
    total = Cost()
    for cost in costs:
        total.add(cost)
    base = whole or total
    is_timed = base.ms > 0 and (total.retry_ms > 0 or not total.retries)
    return RetryCost(
        name=name,
        cost=total,
        call_share=rate_of(total.retries, base.calls),
        time_share=min(1.0, total.retry_ms / base.ms) if is_timed else None,
        success=rate_of(total.recovered, total.recovered + total.given_up),
    )


def retries_by_day(cells: Mapping[date, Cost], days: Iterable[date]) -> list[RetryCost]:
    """One line a day, in the order of ``days``; a day without calls has a cost of nothing."""
    return [cost_of(day.isoformat(), [cells.get(day, Cost())]) for day in days]
