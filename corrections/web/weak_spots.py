"""One weak spot: its patterns, what binds them, examples, and the rules that cover some of it."""

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from corrections.queries.rules import rules_by_pattern
from memory.domain.access import may
from memory.queries.weak_spots import bonds_of, burst_moments, example_failures, find_spot, members_of
from memory.web.access import PageRequest, workspace_page
from memory.web.insights_weak_spots import draw_spots

BONDS_SHOWN = 60


@require_GET
@workspace_page("look")
def weak_spot(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Everything known about a spot, and where to do something about it."""
    spot = find_spot(request.workspace.pk, uuid)
    if spot is None:
        raise Http404(_("There is no such weak spot."))
    members = members_of([spot])
    mine = members[spot.pk]
    rules = rules_by_pattern(
        workspace_id=request.workspace.pk, patterns=[member.pattern.uuid for member in mine]
    )
    context = {"title": Truncator(spot.title).chars(110), "span": None, "spans": (), "spot": spot}
    context |= {"members": [(member, rules.get(member.pattern_id, [])) for member in mine]}
    context |= {"bonds": bonds_of(spot, mine)[:BONDS_SHOWN], "bursts": burst_moments(spot)}
    context |= {"examples": example_failures(mine), "drawing": draw_spots(request, [spot], members)}
    context |= {"covered": sum(bool(rules.get(member.pattern_id)) for member in mine)}
    context |= {"may_draft": may(request.actor, "draft_rule")}
    return render(request, "insights/weak_spot.html", context)
