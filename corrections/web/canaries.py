"""Canaries: all of them with their evidence, and one with everything about it."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from corrections.domain.canaries import LIVE_STATES, policy_of, safe_canary_policy
from corrections.domain.canary_chart import EvidenceChart, Look, Mark, draw_evidence
from corrections.domain.canary_figures import read_seen
from corrections.domain.diff import diff_documents
from corrections.models import Canary, CanaryEvent, CanaryLook
from corrections.queries import canary_pages as queries
from corrections.queries.canaries import list_events, list_looks
from corrections.web.canary_buttons import steer_buttons
from corrections.web.canary_pictures import Picture, guard_rows, picture_of, stage_rows
from corrections.web.canary_words import GROUPS
from corrections.web.forms.canaries import CanaryFilterForm, ExposureFilterForm
from corrections.web.rules import read_version
from memory.queries.paging import newest_first
from memory.web.access import PageRequest, workspace_page

EXPOSURES_SHOWN = 10
LOOKS_LISTED = 30
MARKED = (
    "start",
    "ramp",
    "brake",
    "pause",
    "resume",
    "promote",
    "roll_back",
    "hold",
    "reset",
    "share",
    "extend",
)
BEGIN_ANEW = ("reset", "promote")
"""What evidence is not carried over: the lines of the chart break there."""


@require_GET
@workspace_page("look")
def canaries(request: PageRequest) -> HttpResponse:
    """Group by group; a filter leaves one list with pages."""
    form = CanaryFilterForm(request.GET)
    wanted = form.wanted()
    counts = queries.count_by_state(request.workspace.pk)
    totals = {name: sum(counts.get(state, 0) for state in queries.GROUPS[name]) for name in GROUPS}
    context = {
        "title": _("Canaries"),
        "form": form,
        "is_filtered": any(wanted.values()),
        "total": sum(counts.values()),
        "policy": safe_canary_policy(request.workspace.settings),
        "groups": [] if any(wanted.values()) else _all_groups(request, totals),
        "page": _one_list(request, wanted) if any(wanted.values()) else None,
    }
    return render(request, "canaries/list.html", context)


def _all_groups(request: PageRequest, totals: dict[str, int]) -> list[dict[str, Any]]:
    """The groups that have any, each with its newest canaries."""
    now, live = timezone.now(), queries.count_trying(request.workspace.pk)
    groups = []
    for name, total in totals.items():
        if not total:
            continue
        limit = queries.OVER_SHOWN if name == "over" else queries.GROUP_SHOWN
        rows = queries.list_by_state(request.workspace.pk, states=queries.GROUPS[name])[:limit]
        pictures = [picture_of(row, live=live, now=now) for row in rows]
        pictures.sort(key=lambda one: one.row.state != "held")  # what waits for a person comes first
        groups.append({"name": name, "title": GROUPS[name], "total": total, "pictures": pictures})
    return groups


def _one_list(request: PageRequest, wanted: dict[str, str]) -> dict[str, Any]:
    """One page of what a filter leaves."""
    now, live = timezone.now(), queries.count_trying(request.workspace.pk)
    states = queries.GROUPS.get(wanted["group"], ())
    rows = queries.list_by_state(request.workspace.pk, states=states, q=wanted["q"])
    page = newest_first(rows, request.GET.get("cursor", ""))
    pictures = [picture_of(row, live=live, now=now) for row in page.rows]
    return {"pictures": pictures, "next_cursor": page.next_cursor, "stopped_early": False}


@require_GET
@workspace_page("look")
def canary(request: PageRequest, uuid: UUID) -> HttpResponse:
    """One canary. htmx asks for what changes alone, and for everything when the state has changed."""
    row = canary_of(request, uuid)
    context = live_context(request, row)
    if not request.htmx:
        return render(request, "canaries/detail.html", context | settled_context(request, row))
    answer = render(request, "canaries/live.html", context)
    if request.GET.get("seen") != seen_key(row):
        answer.headers["HX-Refresh"] = "true"  # the buttons and the history change too
    return answer


def canary_of(request: PageRequest, uuid: UUID) -> Canary:
    """The canary of the workspace, or 404."""
    row = queries.get_canary(workspace_id=request.workspace.pk, uuid=uuid)
    if row is None:
        raise Http404(_("There is no such canary."))
    return row


def seen_key(row: Canary) -> str:
    """Names the state that a page was drawn for: another one needs a new page."""
    return f"{row.state}-{row.stage}"


def live_context(request: PageRequest, row: Canary) -> dict[str, Any]:
    """What changes while one looks: figures, the chart, the arms."""
    queries.count_afresh(row)
    picture = picture_of(row, live=queries.count_trying(row.workspace_id), now=timezone.now())
    looks, events = list_looks(row), list_events(row)[::-1]
    return {
        "title": row.rule.name,
        "canary": row,
        "picture": picture,
        "is_live": row.state in LIVE_STATES,
        "seen_key": seen_key(row),
        "guards": guard_rows(picture),
        "looks": [(look, read_seen(look.numbers)) for look in looks[-LOOKS_LISTED:]],
        "events": numbered(events),
        "chart": chart_of(picture, looks, events),
        "is_edit": row.baseline_id is not None,
    }


def settled_context(request: PageRequest, row: Canary) -> dict[str, Any]:
    """What stays while one looks: what the rule does, its history, the tasks, the buttons."""
    exposures = queries.list_exposures(row, queries.ExposureFilters())[:EXPOSURES_SHOWN]
    return {
        "policy": policy_of(row.policy),
        "version": row.version,
        "read": read_version(row.version),
        "changes": diff_documents(row.baseline.body, row.version.body) if row.baseline else [],
        "stages": stage_rows(queries.stages_of_all_time(row)),
        "exposures": list(exposures),
        "buttons": steer_buttons(row, request.actor),
    }


def numbered(events: list[CanaryEvent]) -> list[tuple[int, CanaryEvent]]:
    """Events, newest first, with the numbers that the chart gives them."""
    return [(len(events) - index, event) for index, event in enumerate(events)]


def chart_of(picture: Picture, looks: list[CanaryLook], events: list[CanaryEvent]) -> EvidenceChart | None:
    """Evidence over time with the decisions in it; None with fewer than two looks."""
    if len(looks) < 2:
        return None
    drawn = [Look(look.at, *_evidence(look.numbers)) for look in looks]
    first, last = looks[0].at, looks[-1].at
    breaks = [event.at for event in events if event.kind in BEGIN_ANEW and first < event.at < last]
    drawn += [Look(at, None, None) for at in breaks]
    drawn.sort(key=lambda look: look.at)
    marks = [
        Mark(event.at, event.kind, number)
        for number, event in reversed(numbered(events))
        if event.kind in MARKED and event.at >= looks[0].at
    ]
    return draw_evidence(drawn, marks, alpha=picture.alpha, live=picture.live)


def _evidence(numbers: dict[str, Any]) -> tuple[float | None, float | None]:
    seen = read_seen(numbers)
    return seen.harm, seen.benefit


@require_GET
@workspace_page("look")
def canary_exposures(request: PageRequest, uuid: UUID) -> HttpResponse:
    """The tasks that met the rule's condition, in every arm."""
    row, form = canary_of(request, uuid), ExposureFilterForm(request.GET)
    filters = form.filters()
    context = {
        "title": _("Exposed tasks"),
        "canary": row,
        "form": form,
        "is_filtered": filters != queries.ExposureFilters(),
        "page": newest_first(queries.list_exposures(row, filters), request.GET.get("cursor", "")),
        "is_edit": row.baseline_id is not None,
    }
    return render(request, "canaries/exposures.html", context)
