"""The counted speed of tools. Each function makes the same few queries, whatever was recorded."""

from collections.abc import Iterable
from datetime import date
from typing import Any

from django.db.models import Sum

from memory.domain.insights.fastest import Seen
from memory.domain.insights.speed import ALL, Speed
from memory.domain.insights.ways import Tries
from memory.models import SpeedCell, WayCell

TOOLS = 100
"""Tools that are listed, those with the most calls."""
WAY_CELLS = 5_000
"""Cells of ways that are read for one answer, the newest months first."""
VALUES = ("day", "n", "failed", "timed", "ms_sum", "buckets")


def tool_speeds(workspace_id: int, *, since: date, limit: int = TOOLS) -> dict[tuple[date, str], Speed]:
    """The cells of the tools with the most calls since a day, by (day, tool). Two queries."""
    rows = SpeedCell.objects.filter(workspace=workspace_id, day__gte=since, shape=ALL)
    sums = rows.values("tool").annotate(total=Sum("n")).filter(total__gt=0).order_by("-total", "tool")
    names = [row["tool"] for row in sums[:limit]]
    found = rows.filter(tool__in=names).values_list("tool", *VALUES)
    return {(day, tool): _speed(rest) for tool, day, *rest in found}


def shape_speeds(workspace_id: int, *, tool: str, since: date) -> dict[tuple[date, str], Speed]:
    """The cells of one tool since a day by (day, shape); the whole tool under ``ALL``. One query."""
    rows = SpeedCell.objects.filter(workspace=workspace_id, tool=tool, day__gte=since)
    return {(day, shape): _speed(rest) for shape, day, *rest in rows.values_list("shape", *VALUES)}


def _speed(values: Iterable[Any]) -> Speed:
    return Speed(*values)  # its buckets stay as JSON has them, under texts: merging takes both


def seen_ways(workspace_id: int, *, tool: str, since: date) -> list[Seen]:
    """Attempts at a result of a tool since the first day of that day's month. One query."""
    rows = WayCell.objects.filter(workspace=workspace_id, tool=tool, month__gte=since.replace(day=1), n__gt=0)
    names = ("before", "domain", "tags", "way", *Tries.__struct_fields__)
    found = rows.order_by("-month", "-n").values_list(*names)[:WAY_CELLS]
    return [Seen(before, domain, tags, way, Tries(*rest)) for before, domain, tags, way, *rest in found]
