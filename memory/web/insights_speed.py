"""How long tools take, by what they are given, and which way is fastest in a situation."""

from typing import Any

from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from memory.domain.insights.day_charts import Series, draw_days
from memory.domain.insights.fastest import find_fastest
from memory.domain.insights.latency import Latency, by_day, by_name
from memory.domain.insights.speed import ALL
from memory.domain.insights.speed_tables import SPEED_HEADER, speed_rows
from memory.queries.insight_days import newest_day
from memory.queries.insights_speed import seen_ways, shape_speeds, tool_speeds
from memory.web.access import PageRequest, workspace_page
from memory.web.insight_forms import SituationForm
from memory.web.insight_spans import Asked, read_asked
from memory.web.tables import csv_answer


@require_GET
@workspace_page("look")
def speed(request: PageRequest) -> HttpResponseBase:
    """All tools, or one with its shapes and its fastest ways. ``?format=csv``: the table."""
    asked = read_asked(request)
    if asked.tool:
        return _one_tool(request, asked)
    found = by_name(tool_speeds(request.workspace.pk, since=asked.since))
    if request.GET.get("format") == "csv":
        return csv_answer("speed.csv", SPEED_HEADER, speed_rows(found))
    context = {"title": _("Speed"), "found": found, "newest": newest_day(request.workspace.pk)}
    return render(request, "insights/speed.html", context | asked.context())


def _one_tool(request: PageRequest, asked: Asked) -> HttpResponseBase:
    cells = shape_speeds(request.workspace.pk, tool=asked.tool, since=asked.since)
    whole = {key: cell for key, cell in cells.items() if key[1] == ALL}
    found = by_name({key: cell for key, cell in cells.items() if key[1] != ALL})
    if request.GET.get("format") == "csv":
        return csv_answer("shapes.csv", SPEED_HEADER, speed_rows(found))
    days = by_day(whole, asked.days)
    total = by_name(whole)
    context = {
        "title": asked.tool,
        "total": total[0] if total else None,
        "found": found,
        "days": [day for day in days if day.n],
        "chart": _chart(asked, days),
        "newest": newest_day(request.workspace.pk),
    }
    return render(request, "insights/tool.html", context | asked.context() | _fastest(request, asked))


def _chart(asked: Asked, days: list[Latency]) -> Any:
    lines = [
        Series("p50", [day.p50.value if day.p50.is_known else None for day in days]),
        Series("p95", [day.p95.value if day.p95.is_known else None for day in days]),
    ]
    return draw_days(asked.days, lines, unit="ms", is_log=True)


def _fastest(request: PageRequest, asked: Asked) -> dict[str, Any]:
    """The answer to the form: with nothing filled in, the tool's ways in any situation."""
    form = SituationForm(request.GET)
    seen = seen_ways(request.workspace.pk, tool=asked.tool, since=asked.since)
    return {"form": form, "answer": find_fastest(seen, asked.tool, form.situation())}
