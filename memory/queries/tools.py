"""Tools: the list, and one tool with its schema versions, calls and patterns."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Sum

from memory.models import DailyCount, ErrorPattern, Tool, ToolCall, ToolSchema, Workspace
from memory.queries.paging import Page, most_first, newest_first

CALLS_PER_PAGE = 25


def list_tools(workspace: Workspace, text: str, cursor: str) -> Page[Tool]:
    """The most called first."""
    rows = Tool.objects.filter(workspace=workspace)
    if text:
        rows = rows.filter(name__icontains=text)
    return most_first(rows, "call_count", cursor)


@dataclass(frozen=True)
class ToolOverview:
    """What belongs to one tool: recent calls, the patterns it runs into, how its schema changed."""

    calls: Page[ToolCall]
    patterns: list[ErrorPattern]
    schemas: list[ToolSchema]


def tool_overview(tool: Tool, cursor: str) -> ToolOverview:
    """Three queries, however much the tool was used."""
    calls = ToolCall.objects.filter(workspace=tool.workspace_id, tool=tool.name).select_related("task")
    patterns = ErrorPattern.objects.filter(workspace=tool.workspace_id, tool=tool.name)
    return ToolOverview(
        calls=newest_first(calls, cursor, size=CALLS_PER_PAGE),
        patterns=list(patterns.order_by("-occurrence_count", "-pk")[:15]),
        schemas=list(tool.schemas.order_by("-version")[:20]),
    )


class SchemaPeriod(NamedTuple):
    """A time in which a tool had the same schema hash; ``version`` is the newest one in it.

    ``since`` is None for the first period, ``until`` for that of today.
    """

    version: int
    hash: str
    since: datetime | None
    until: datetime | None


def schema_periods(workspace_id: int, name: str) -> list[SchemaPeriod]:
    """The periods of a tool's input schema, oldest first; none for a tool that is not known. One query.

    A version that only got another name (its reported version) begins no period.
    """
    rows = ToolSchema.objects.filter(tool__workspace_id=workspace_id, tool__name=name).order_by("version")
    periods: list[SchemaPeriod] = []
    for version, found, seen_at in rows.values_list("version", "schema_hash", "seen_at"):
        if not periods:
            periods.append(SchemaPeriod(version, found, None, None))
        elif periods[-1].hash == found:
            periods[-1] = periods[-1]._replace(version=version)
        else:
            periods[-1] = periods[-1]._replace(until=seen_at)
            periods.append(SchemaPeriod(version, found, seen_at, None))
    return periods


def periods_like_now(workspace_id: int, name: str) -> list[SchemaPeriod]:
    """The periods in which the schema was what it is now: a schema that came back has several."""
    periods = schema_periods(workspace_id, name)
    return [period for period in periods if period.hash == periods[-1].hash]


def calls_per_day(workspace_id: int, name: str, *, since: datetime) -> float | None:
    """How often a tool was called on an average day since then; None without a call, or for a pattern."""
    rows = DailyCount.objects.filter(workspace_id=workspace_id, tool=name, day__gte=since.date())
    days = rows.filter(calls__gt=0).aggregate(calls=Sum("calls"), days=Count("day"))
    return days["calls"] / days["days"] if days["days"] else None


def list_tool_names(workspace: Workspace, *, limit: int = 200) -> list[str]:
    """The most called tools, for the suggestions of a filter."""
    rows = Tool.objects.filter(workspace=workspace).order_by("-call_count", "-pk")
    return sorted(rows.values_list("name", flat=True)[:limit])


def list_last_calls(workspace_id: int) -> dict[str, datetime]:
    """When each tool of the workspace was last called, by name."""
    return dict(Tool.objects.filter(workspace_id=workspace_id).values_list("name", "last_seen_at"))


def input_schemas(*, workspace_id: int, tools: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The newest input schema of each of these tools that has one. One query."""
    rows = ToolSchema.objects.filter(tool__workspace=workspace_id, tool__name__in=list(tools))
    found = rows.order_by("version").values_list("tool__name", "input_schema")
    return {name: schema for name, schema in found if schema}
