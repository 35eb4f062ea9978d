"""Watch it learn: the page of the demo's player. In other workspaces it does not exist."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from corrections.actions.plays import begin_again, start_play, stop_play
from corrections.domain.lifecycle import Refused
from corrections.domain.plays import rates_of
from corrections.models import DemoPlay
from corrections.queries.plays import get_play, is_demo, newest_proposals, rules_by_uuid
from hgmem_site.demo.player import is_installed
from memory.domain.access import may
from memory.domain.charts import Tick, draw_line, nice_bounds, ticks, x_scale, y_scale
from memory.domain.insights.day_charts import STYLES, DayChart, Drawn
from memory.web.access import PageRequest, workspace_page


@require_GET
@workspace_page("look")
def learn(request: PageRequest) -> HttpResponse:
    """Failures falling while the scripted agent goes on; refreshed without a reload."""
    _check_demo(request)
    play = get_play(request.workspace.pk)
    passes = rates_of(play.counts) if play else []
    context = {
        "title": _("Watch it learn"), "play": play, "passes": passes, "chart": _chart(passes),
        "walks": _walks(play), "proposals": newest_proposals(request.workspace.pk),
        "is_installed": is_installed(), "may_play": may(request.actor, "manage_workspace"),
    }  # fmt: skip
    return render(request, "learn/page.html", context)


@require_POST
@workspace_page("manage_workspace")
def learn_start(request: PageRequest) -> HttpResponse:
    """Start, or go on."""
    _check_demo(request)
    if not is_installed():
        messages.error(request, _("The tools are not installed"))
        return redirect("learn", request.workspace.slug)
    autopilot = request.POST.get("autopilot") == "on"
    return _done(
        request, lambda: start_play(workspace_id=request.workspace.pk, autopilot=autopilot, by=request.actor)
    )


@require_POST
@workspace_page("manage_workspace")
def learn_stop(request: PageRequest) -> HttpResponse:
    """Stop after the walk that is under way."""
    _check_demo(request)
    return _done(request, lambda: stop_play(workspace_id=request.workspace.pk, by=request.actor))


@require_POST
@workspace_page("manage_workspace")
def learn_again(request: PageRequest) -> HttpResponse:
    """A fresh workspace that knows nothing; this one stays."""
    _check_demo(request)
    try:
        fresh = begin_again(workspace_id=request.workspace.pk, owner=request.user, by=request.actor)
    except Refused as refusal:
        messages.error(request, str(refusal))
        return redirect("learn", request.workspace.slug)
    messages.success(
        request, _("This workspace is new and knows nothing yet. The other one stays as it was.")
    )
    return redirect("learn", fresh)


def _check_demo(request: PageRequest) -> None:
    if not is_demo(request.workspace.pk, request.workspace.slug):
        raise Http404(_("The demo does not play in this workspace."))


def _done(request: PageRequest, act: Callable[[], Any]) -> HttpResponse:
    try:
        act()
    except Refused as refusal:
        messages.error(request, str(refusal))
    return redirect("learn", request.workspace.slug)


def _walks(play: DemoPlay | None) -> list[dict[str, Any]]:
    """The newest walks, each with the rules that spoke up."""
    if play is None:
        return []
    uuids = {uuid for entry in play.newest for uuid in entry["rules"]}
    rules = rules_by_uuid(play.workspace_id, uuids)
    return [entry | {"rules": [rules[it] for it in entry["rules"] if it in rules]} for entry in play.newest]


def _chart(passes: list[list[dict[str, Any]]]) -> DayChart | None:
    """One line a pass over the walks of it, in failures of 50 walks; None before the first window."""
    known = [row["per_50"] for rows in passes for row in rows]
    if not known:
        return None
    last = max(row["last"] for rows in passes for row in rows)
    across, up = x_scale(0, last), y_scale(0.0, nice_bounds([0.0, *known])[1])
    lines = [
        Drawn(
            _("pass %(number)d") % {"number": place + 1}, STYLES[place % len(STYLES)],
            draw_line([(row["last"], row["per_50"]) for row in rows], across, up),
        )
        for place, rows in enumerate(passes)
    ]  # fmt: skip
    marks = [Tick(across.at(mark), f"{mark:.0f}") for mark in (0, last / 2, last)]
    return DayChart(marks, ticks(up), lines)
