"""Calls of tools by day."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date

from memory.models import DailyCount, Tool


def calls_by_day(workspace_id: int, *, tools: Iterable[str], since: date) -> dict[str, dict[date, int]]:
    """Recorded calls of these tools by name and day (UTC), from a day on. One query."""
    rows = DailyCount.objects.filter(workspace=workspace_id, tool__in=list(tools), day__gte=since)
    found: dict[str, dict[date, int]] = defaultdict(dict)
    for tool, day, calls in rows.values_list("tool", "day", "calls"):
        found[tool][day] = calls
    return found


def names_called(workspace_id: int) -> list[str]:
    """The names of the workspace's tools."""
    return list(Tool.objects.filter(workspace=workspace_id).values_list("name", flat=True))
