"""The counted repeats. Each function makes the same few queries, whatever was recorded."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any, Literal

from django.db.models import QuerySet, Sum
from django.db.models.functions import TruncDate

from memory.domain.insights.repeating import RepeatRate, repeats_of
from memory.domain.insights.repeats import ANY_PATTERN, Repeated
from memory.models import ErrorPattern, RepeatCell

LISTED = 50
FIELDS = Repeated.__struct_fields__


@dataclass(frozen=True)
class RepeatsAsked:
    """What is looked at: from a day on, all or one tool, all or one agent, all or one error pattern (id)."""

    since: date
    tool: str = ""
    agent: str = ""
    pattern: int = ANY_PATTERN


@dataclass(frozen=True)
class PatternRepeats:
    """An error pattern and how often it was met again."""

    pattern: ErrorPattern
    found: RepeatRate


def repeats_of_days(workspace_id: int, asked: RepeatsAsked) -> dict[date, Repeated]:
    """Each day with calls or failures. One query, two for a pattern: its calls are all calls."""
    found = _days(_cells(workspace_id, asked).filter(pattern=ANY_PATTERN))
    if asked.pattern == ANY_PATTERN:
        return found
    mine = _days(_cells(workspace_id, asked).filter(pattern=asked.pattern))
    days = sorted({*found, *mine})
    none = Repeated()
    return {
        day: Repeated(found.get(day, none).calls, mine.get(day, none).failures, mine.get(day, none).repeats)
        for day in days
    }


def repeats_of_names(
    workspace_id: int, asked: RepeatsAsked, by: Literal["tool", "agent"], limit: int = LISTED
) -> list[RepeatRate]:
    """Tools or agents by the number of repeated failures, the most first. One query."""
    rows = _summed(_cells(workspace_id, asked).filter(pattern=ANY_PATTERN), by)
    ranked = rows.filter(sum_failures__gt=0).order_by("-sum_repeats", "-sum_failures", by)[:limit]
    return [repeats_of(str(row[by]), [_seen(row)]) for row in ranked]


def repeats_of_patterns(
    workspace_id: int, asked: RepeatsAsked, *, calls: int, limit: int = LISTED
) -> list[PatternRepeats]:
    """Error patterns by the number of repeated failures; rates are of ``calls``. Two queries."""
    rows = _summed(_cells(workspace_id, asked).exclude(pattern=ANY_PATTERN), "pattern")
    sums = rows.filter(sum_repeats__gt=0).order_by("-sum_repeats", "pattern")
    found = {row["pattern"]: _seen(row) for row in sums[:limit]}
    patterns = ErrorPattern.objects.filter(workspace=workspace_id).in_bulk(list(found))
    return [
        PatternRepeats(patterns[key], repeats_of(patterns[key].title, [seen], calls))
        for key, seen in found.items()
        if key in patterns
    ]


def calls_by_hour(
    workspace_id: int, *, tools: Collection[str], since: datetime
) -> dict[tuple[str, datetime], int]:
    """Calls of some tools in each hour. One query."""
    rows = RepeatCell.objects.filter(
        workspace=workspace_id, tool__in=tools, pattern=ANY_PATTERN, hour__gte=since, calls__gt=0
    )
    found = rows.values("tool", "hour").order_by("tool", "hour").annotate(n=Sum("calls"))
    return {(row["tool"], row["hour"]): row["n"] for row in found}


def failures_by_hour(
    workspace_id: int, *, patterns: Collection[int], since: datetime
) -> dict[tuple[int, datetime], int]:
    """Failures of some error patterns (ids) in each hour. One query."""
    rows = RepeatCell.objects.filter(
        workspace=workspace_id, pattern__in=patterns, hour__gte=since, failures__gt=0
    )
    found = rows.values("pattern", "hour").order_by("pattern", "hour").annotate(n=Sum("failures"))
    return {(row["pattern"], row["hour"]): row["n"] for row in found}


def _cells(workspace_id: int, asked: RepeatsAsked) -> QuerySet[RepeatCell]:
    start = datetime.combine(asked.since, time(), UTC)
    rows = RepeatCell.objects.filter(workspace=workspace_id, hour__gte=start)
    rows = rows.filter(tool=asked.tool) if asked.tool else rows
    return rows.filter(agent=asked.agent) if asked.agent else rows


def _days(cells: QuerySet[RepeatCell]) -> dict[date, Repeated]:
    rows = _summed(cells.annotate(day=TruncDate("hour", tzinfo=UTC)), "day").order_by("day")
    return {row["day"]: _seen(row) for row in rows}


def _summed(rows: Any, by: str) -> Any:
    """The rows' sums for each value of a field, as dictionaries."""
    return rows.values(by).annotate(**{f"sum_{name}": Sum(name) for name in FIELDS})


def _seen(row: dict[str, Any]) -> Repeated:
    return Repeated(*(row[f"sum_{name}"] for name in FIELDS))
