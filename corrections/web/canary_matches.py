"""Where a rule in shadow would have fired, and what it would have changed there."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_GET

from corrections.actions.trying import try_on_calls
from corrections.models import Canary, Exposure
from corrections.queries import canary_pages as queries
from corrections.web.canaries import canary_of
from corrections.web.simulations import Simulation, readable
from hgmem.rules import RuleError
from memory.domain.access import Actor
from memory.queries.paging import newest_first
from memory.web.access import PageRequest, workspace_page

MATCHES_PER_PAGE = 20
COUNTED_TO = 10_000
NOT_AGAIN = gettext_noop(
    "On the call as it was recorded it does not fire: its input was redacted, or the call was made otherwise."
)


@dataclass(frozen=True)
class Match:
    """A task that it met; ``would`` is None while nobody can tell, and ``problem`` says why."""

    exposure: Exposure
    would: Simulation | None = None
    problem: str = ""


@require_GET
@workspace_page("look")
def canary_matches(request: PageRequest, uuid: UUID) -> HttpResponse:
    """The counterfactual matches, newest first. The rule is run on each recorded call now, alone."""
    row = canary_of(request, uuid)
    page = newest_first(queries.list_matches(row), request.GET.get("cursor", ""), size=MATCHES_PER_PAGE)
    context = {
        "title": _("Would have fired here"),
        "canary": row,
        "page": page,
        "matches": matches_of(row, page.rows, by=request.actor, now=timezone.now()),
        "total": queries.count_matches(row, COUNTED_TO),
        "counted_to": COUNTED_TO,
    }
    return render(request, "canaries/matches.html", context)


def matches_of(row: Canary, exposures: Sequence[Exposure], *, by: Actor, now: datetime) -> list[Match]:
    """What the rule would have done to each; three queries, however many."""
    places = [place for place in map(_place, exposures) if place is not None]
    names = {str(row.rule.uuid): row.rule.name}
    document = {**row.version.body, "uuid": str(row.rule.uuid), "version": row.version.number}
    try:
        tried = try_on_calls(document=document, places=places, now=now, by=by)
    except RuleError as error:
        return [Match(one, problem=str(error)) for one in exposures]
    return [_match(one, tried, names) for one in exposures]


def _place(exposure: Exposure) -> tuple[UUID, int] | None:
    receipt = exposure.receipt
    if receipt is None or receipt.call_task is None or receipt.call_seq is None:
        return None
    return receipt.call_task.uuid, receipt.call_seq


def _match(exposure: Exposure, tried: dict[tuple[UUID, int], dict[str, Any]], names: dict[str, str]) -> Match:
    place = _place(exposure)
    if place is None:
        return Match(exposure, problem=_("The call is not recorded yet."))
    answer = tried.get(place)
    if answer is None:
        return Match(exposure, problem=_("The call is not there any more, or cannot be read."))
    would = readable(answer, answer["context"], names=names)
    if not answer["applied"] and not answer["after_call"]:
        return Match(
            exposure,
            would,
            _(NOT_AGAIN),
        )
    return Match(exposure, would)
