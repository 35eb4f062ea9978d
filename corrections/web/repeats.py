"""Repeated errors: their rate over time, and before and after each rule."""

from dataclasses import dataclass

from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from corrections.queries.repeats import Change, list_changes
from memory.domain.insights.day_charts import Series, draw_days
from memory.domain.insights.repeating import (
    REPEAT_HEADER,
    RULE_HEADER,
    RepeatRate,
    repeat_rows,
    repeats_by_day,
    repeats_of,
    side_cells,
)
from memory.domain.insights.repeats import Repeated
from memory.domain.insights.sums import ANY_PATTERN
from memory.queries.insight_days import newest_day
from memory.queries.insights_repeats import (
    PatternRepeats,
    RepeatsAsked,
    repeats_of_days,
    repeats_of_names,
    repeats_of_patterns,
)
from memory.queries.patterns import find_pattern_id
from memory.web.access import PageRequest, workspace_page
from memory.web.insight_spans import Asked, read_asked
from memory.web.tables import csv_answer

MAX_TEXT = 200


@dataclass(frozen=True)
class Found:
    """What the page and its tables show."""

    days: list[RepeatRate]
    tools: list[RepeatRate]
    agents: list[RepeatRate]
    patterns: list[PatternRepeats]
    changes: list[Change]


@require_GET
@workspace_page("look")
def repeats(request: PageRequest) -> HttpResponseBase:
    """By day, tool, agent, pattern and rule; ``?format=csv&table=days`` (or another of them) as a table."""
    span = read_asked(request)
    agent, pattern = (
        request.GET.get(name, "").replace("\x00", "")[:MAX_TEXT] for name in ("agent", "pattern")
    )
    total, found = _look_up(request, span, agent, pattern)
    if request.GET.get("format") == "csv":
        return _csv(request.GET.get("table", ""), found)
    context = {
        "title": _("Repeats"), "total": total, "patterns": found.patterns, "changes": found.changes,
        "agent": agent, "pattern": pattern, "tools": found.tools, "agents": found.agents,
        "newest": newest_day(request.workspace.pk),
        "days": [day for day in found.days if day.seen != Repeated()],
        "chart": draw_days(span.days, _lines(found.days), unit="%", factor=100.0),
    }  # fmt: skip
    return render(request, "insights/repeats.html", context | span.context(agent=agent, pattern=pattern))


def _look_up(request: PageRequest, span: Asked, agent: str, pattern: str) -> tuple[RepeatRate, Found]:
    """The rate of all that was asked for, and its parts."""
    workspace_id = request.workspace.pk
    known = find_pattern_id(workspace_id, pattern) if pattern else ANY_PATTERN
    asked = RepeatsAsked(span.since, span.tool, agent, known)
    cells = repeats_of_days(workspace_id, asked)
    total = repeats_of("", cells.values())
    found = Found(
        days=repeats_by_day(cells, span.days),
        tools=repeats_of_names(workspace_id, asked, "tool"),
        agents=repeats_of_names(workspace_id, asked, "agent"),
        patterns=repeats_of_patterns(workspace_id, asked, calls=total.seen.calls),
        changes=list_changes(workspace_id, tool=span.tool),
    )
    return total, found


def _lines(days: list[RepeatRate]) -> list[Series]:
    failed = [day.failed.value if day.failed.is_known else None for day in days]
    again = [day.again.value if day.again.is_known else None for day in days]
    return [Series(_("failures"), failed), Series(_("repeated failures"), again)]


def _csv(table: str, found: Found) -> HttpResponseBase:
    if table == "rules":
        rows = [
            (
                change.rule.name, " ".join(change.tools), change.served_at.isoformat(),
                *side_cells(change.before), *side_cells(change.after),
            )
            for change in found.changes
        ]  # fmt: skip
        return csv_answer("repeats-by-rules.csv", RULE_HEADER, rows)
    tables = {
        "days": found.days, "tools": found.tools, "agents": found.agents,
        "patterns": [row.found for row in found.patterns],
    }  # fmt: skip
    name = table if table in tables else "days"
    return csv_answer(f"repeats-by-{name}.csv", REPEAT_HEADER, repeat_rows(tables[name]))
