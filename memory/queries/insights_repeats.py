"""The counted repeats. Each function makes the same few queries, whatever was recorded."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from django.db.models import QuerySet

from memory.domain.insights.repeating import RepeatRate, repeats_of
from memory.domain.insights.repeats import Repeated
from memory.domain.insights.sums import ANY_PATTERN
from memory.models import ErrorPattern, PatternHour, RepeatCell, ToolHour
from memory.queries.insight_sums import summed, sums_in

LISTED = 50


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
    rows = summed(_cells(workspace_id, asked).filter(pattern=ANY_PATTERN), by, Repeated)
    ranked = rows.filter(sum_failures__gt=0).order_by("-sum_repeats", "-sum_failures", by)[:limit]
    return [repeats_of(str(row[by]), [sums_in(row, Repeated)]) for row in ranked]


def repeats_of_patterns(
    workspace_id: int, asked: RepeatsAsked, *, calls: int, limit: int = LISTED
) -> list[PatternRepeats]:
    """Error patterns by the number of repeated failures; rates are of ``calls``. Two queries."""
    rows = summed(_cells(workspace_id, asked).exclude(pattern=ANY_PATTERN), "pattern", Repeated)
    sums = rows.filter(sum_repeats__gt=0).order_by("-sum_repeats", "pattern")
    found = {row["pattern"]: sums_in(row, Repeated) for row in sums[:limit]}
    patterns = ErrorPattern.objects.filter(workspace=workspace_id).in_bulk(list(found))
    return [
        PatternRepeats(patterns[key], repeats_of(patterns[key].title, [seen], calls))
        for key, seen in found.items()
        if key in patterns
    ]


def calls_by_hour(workspace_id: int, *, tools: Collection[str], hours: range) -> dict[str, dict[int, int]]:
    """Calls of each of some tools by hour (since 1970, UTC). One query."""
    rows = ToolHour.objects.filter(workspace=workspace_id, tool__in=tools, hour__range=_ends(hours))
    return _by_owner(rows.values_list("tool", "hour", "calls"))


def failures_by_hour(
    workspace_id: int, *, patterns: Collection[int], hours: range
) -> dict[int, dict[int, int]]:
    """Failures of each of some error patterns (ids) by hour (since 1970, UTC). One query."""
    rows = PatternHour.objects.filter(workspace=workspace_id, pattern__in=patterns, hour__range=_ends(hours))
    return _by_owner(rows.values_list("pattern_id", "hour", "failures"))


def _ends(hours: range) -> tuple[int, int]:
    return hours.start, hours.stop - 1


def _by_owner(rows: Iterable[tuple[Any, int, int]]) -> dict[Any, dict[int, int]]:
    found: dict[Any, dict[int, int]] = {}
    for owner, hour, count in rows:
        found.setdefault(owner, {})[hour] = count
    return found


def _cells(workspace_id: int, asked: RepeatsAsked) -> QuerySet[RepeatCell]:
    rows = RepeatCell.objects.filter(workspace=workspace_id, day__gte=asked.since)
    rows = rows.filter(tool=asked.tool) if asked.tool else rows
    return rows.filter(agent=asked.agent) if asked.agent else rows


def _days(cells: QuerySet[RepeatCell]) -> dict[date, Repeated]:
    rows = summed(cells, "day", Repeated).order_by("day")
    return {row["day"]: sums_in(row, Repeated) for row in rows}
