"""The counted cost of retries. Each function makes the same few queries, whatever was recorded."""

from dataclasses import dataclass
from datetime import date

from django.db.models import QuerySet

from memory.domain.insights.retries import Cost
from memory.domain.insights.retrying import RetryCost, cost_of
from memory.domain.insights.sums import ANY_PATTERN
from memory.models import ErrorPattern, RetryCell
from memory.queries.insight_sums import summed, sums_in

LISTED = 25


@dataclass(frozen=True)
class PatternCost:
    """An error pattern and what retries after it cost."""

    pattern: ErrorPattern
    retry: RetryCost


def retries_of_days(workspace_id: int, *, since: date, tool: str = "") -> dict[date, Cost]:
    """The cost of each day with calls, of all tools or of one. One query."""
    rows = _cells(workspace_id, since, tool).filter(pattern=ANY_PATTERN)
    return {row["day"]: sums_in(row, Cost) for row in summed(rows, "day", Cost).order_by("day")}


def retries_of_tools(
    workspace_id: int, *, since: date, tool: str = "", limit: int = LISTED
) -> list[RetryCost]:
    """Tools by the number of retries, the most first; those without any are left out. One query."""
    rows = _cells(workspace_id, since, tool).filter(pattern=ANY_PATTERN)
    found = summed(rows, "tool", Cost).filter(sum_retries__gt=0).order_by("-sum_retries", "tool")[:limit]
    return [cost_of(row["tool"], [sums_in(row, Cost)]) for row in found]


def retries_of_patterns(
    workspace_id: int, *, since: date, whole: Cost, tool: str = "", limit: int = LISTED
) -> list[PatternCost]:
    """Error patterns by the number of retries after them, with their share of ``whole``. Two queries."""
    rows = _cells(workspace_id, since, tool).exclude(pattern=ANY_PATTERN)
    sums = summed(rows, "pattern", Cost).filter(sum_retries__gt=0).order_by("-sum_retries", "pattern")
    found = {row["pattern"]: sums_in(row, Cost) for row in sums[:limit]}
    patterns = ErrorPattern.objects.filter(workspace=workspace_id).in_bulk(list(found))
    return [
        PatternCost(patterns[key], cost_of(patterns[key].title, [cost], whole))
        for key, cost in found.items()
        if key in patterns
    ]


def _cells(workspace_id: int, since: date, tool: str) -> QuerySet[RetryCell]:
    rows = RetryCell.objects.filter(workspace=workspace_id, day__gte=since)
    return rows.filter(tool=tool) if tool else rows
