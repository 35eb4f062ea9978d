"""Tools: the list, and one tool with its schema versions, calls and patterns."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

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


def schema_changed_at(workspace_id: int, name: str) -> datetime | None:
    """When the input schema of a tool last changed; None for never, or for a tool that is not known."""
    rows = ToolSchema.objects.filter(tool__workspace_id=workspace_id, tool__name=name, version__gt=1)
    return rows.order_by("-version").values_list("seen_at", flat=True).first()


def schema_hash_of(workspace_id: int, name: str) -> str:
    """The hash of a tool's input schema as it is now; "" for a tool that is not known."""
    rows = Tool.objects.filter(workspace_id=workspace_id, name=name)
    return rows.values_list("schema_hash", flat=True).first() or ""


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
