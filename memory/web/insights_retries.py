"""What retries cost."""

from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from memory.domain.insights.day_charts import DayChart, Series, draw_days
from memory.domain.insights.retries import Cost
from memory.domain.insights.retrying import RetryCost, cost_of, retries_by_day
from memory.domain.insights.speed_tables import RETRY_HEADER, retry_rows
from memory.queries.insight_days import newest_day
from memory.queries.insights_retries import (
    PatternCost,
    retries_of_days,
    retries_of_patterns,
    retries_of_tools,
)
from memory.web.access import PageRequest, workspace_page
from memory.web.insight_spans import Asked, read_asked
from memory.web.tables import csv_answer


@require_GET
@workspace_page("look")
def retries(request: PageRequest) -> HttpResponseBase:
    """By day, tool and error pattern. ``?format=csv&table=days|tools|patterns``: one table."""
    asked, workspace_id = read_asked(request), request.workspace.pk
    cells = retries_of_days(workspace_id, since=asked.since, tool=asked.tool)
    total = cost_of("", cells.values())
    days = retries_by_day(cells, asked.days)
    tools = retries_of_tools(workspace_id, since=asked.since, tool=asked.tool)
    patterns = retries_of_patterns(workspace_id, since=asked.since, tool=asked.tool, whole=total.cost)
    if request.GET.get("format") == "csv":
        return _csv(request.GET.get("table", ""), days, tools, patterns)
    context = {
        "title": _("Retries"), "total": total, "tools": tools, "patterns": patterns,
        "days": [day for day in days if day.cost != Cost()], "chart": _chart(asked, days),
        "newest": newest_day(workspace_id),
    }  # fmt: skip
    return render(request, "insights/retries.html", context | asked.context())


def _csv(
    table: str, days: list[RetryCost], tools: list[RetryCost], patterns: list[PatternCost]
) -> HttpResponseBase:
    tables = {"tools": tools, "patterns": [item.retry for item in patterns]}
    found = tables.get(table, days)
    name = table if table in tables else "days"
    return csv_answer(f"retries-by-{name}.csv", RETRY_HEADER, retry_rows(found))


def _chart(asked: Asked, days: list[RetryCost]) -> DayChart | None:
    calls = [day.call_share.value if day.call_share.is_known else None for day in days]
    times = [day.time_share if day.call_share.is_known else None for day in days]
    lines = [Series(_("share of calls"), calls), Series(_("share of time"), times)]
    return draw_days(asked.days, lines, unit="%", factor=100.0)
