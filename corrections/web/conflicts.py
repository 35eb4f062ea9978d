"""The conflict inbox, the arbitration page, rulings, and what a rule's page says about its conflicts."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from corrections.actions.arbitration import Said, end_ruling, rule_conflict
from corrections.actions.regressions import BrokenRuling
from corrections.actions.rules import StaleEdit
from corrections.actions.scanning import scan_everything
from corrections.domain.lifecycle import Refused
from corrections.models import ChangeRequest, Conflict
from corrections.queries import conflicts as queries
from corrections.queries.rulings import get_ruling, list_rulings, rulings_about
from corrections.web.arbitrating import arbitration_of
from corrections.web.forms.ruling import STATUSES, ConflictFilterForm, EndRulingForm, RulingForm
from corrections.web.sessions import find_rule
from hgmem.rules import RuleError
from memory.domain.access import may
from memory.queries.paging import newest_first
from memory.web.access import PageRequest, workspace_page


@require_GET
@workspace_page("look")
def conflicts(request: PageRequest) -> HttpResponse:
    """What the analyser found: the open ones, the most frequent first."""
    form, workspace_id = ConflictFilterForm(request.GET), request.workspace.pk
    filters = form.filters()
    context = {
        "title": _("Conflicts"), "form": form, "filters": filters, "statuses": STATUSES,
        "page": queries.page_of_conflicts(workspace_id, filters, request.GET.get("cursor", "")),
        "counts": queries.count_by_status(workspace_id), "scan": queries.latest_scan(workspace_id),
        "tools": queries.list_tools(workspace_id), "may_rule": may(request.actor, "rule_conflict"),
    }  # fmt: skip
    return render(request, "conflicts/list.html", context)


@require_GET
@workspace_page("look")
def conflict(request: PageRequest, uuid: UUID) -> HttpResponse:
    """One finding: both rules, the witness, how often it happened, and the decision."""
    return shown(request, conflict_of(request, uuid))


def conflict_of(request: PageRequest, uuid: UUID) -> Conflict:
    """The workspace's finding, or 404."""
    found = queries.get_conflict(workspace_id=request.workspace.pk, uuid=uuid)
    if found is None:
        raise Http404("There is no such conflict.")
    return found


def shown(
    request: PageRequest, found: Conflict, status: int = 200, refusal: BrokenRuling | None = None
) -> HttpResponse:
    """The arbitration page."""
    context = {
        "title": _("Conflict"), "conflict": found, "arbitration": arbitration_of(found),
        "rulings": rulings_about(found), "may_rule": may(request.actor, "rule_conflict"),
        "refusal": refusal,
    }  # fmt: skip
    return render(request, "conflicts/detail.html", context, status=status)


@require_POST
@workspace_page("rule_conflict")
def conflict_rule(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Decide: in force at once, or waiting for approval."""
    found, form = conflict_of(request, uuid), RulingForm(request.POST)
    if not form.is_valid():
        for errors in form.errors.values():
            messages.error(request, errors[0])
        return shown(request, found, 422)
    try:
        change = rule_conflict(conflict=found, said=Said(**form.said()), by=request.actor)
    except (Refused, RuleError, StaleEdit) as refusal:
        messages.error(request, str(refusal))
        return shown(request, found, 409, refusal if isinstance(refusal, BrokenRuling) else None)
    say_what_became(request, change, done=_("It is in force now."))
    return redirect("conflict", request.workspace.slug, uuid)


def say_what_became(request: PageRequest, change: ChangeRequest, *, done: str) -> None:
    """``done``, or where it waits."""
    if change.status == "published":
        messages.success(request, done)
        return
    url = reverse("change", args=[request.workspace.slug, change.uuid])
    said = _("It waits for approval.")
    messages.info(request, format_html('{} <a href="{}">{}</a>', said, url, _("See the request")))


@require_POST
@workspace_page("rule_conflict")
def conflicts_scan(request: PageRequest) -> HttpResponse:
    """Look at all rules again, in the background."""
    scan_everything(workspace_id=request.workspace.pk, by=request.actor)
    messages.info(request, _("All rules are being looked at. The list fills up meanwhile."))
    return redirect("conflicts", request.workspace.slug)


@require_GET
@workspace_page("look")
def rule_conflicts(request: PageRequest, uuid: UUID) -> HttpResponse:
    """The part of a rule's page about its conflicts, asked for until the scan is done."""
    row = find_rule(request, uuid)
    context = {
        "title": _("Conflicts"), "rule": row, "scan": queries.latest_scan(request.workspace.pk, row),
        "conflicts": queries.conflicts_of_rule(row),
    }  # fmt: skip
    part = "conflicts/of_rule.html" if request.headers.get("HX-Request") else "conflicts/of_rule_page.html"
    return render(request, part, context)


@require_GET
@workspace_page("look")
def rulings(request: PageRequest) -> HttpResponse:
    """What people decided, newest first."""
    rows = list_rulings(workspace_id=request.workspace.pk)
    context = {
        "title": _("Rulings"), "page": newest_first(rows, request.GET.get("cursor", "")),
        "may_rule": may(request.actor, "rule_conflict"),
    }  # fmt: skip
    return render(request, "conflicts/rulings.html", context)


@require_POST
@workspace_page("rule_conflict")
def ruling_end(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Ask for the end of a ruling."""
    ruling, form = get_ruling(workspace_id=request.workspace.pk, uuid=uuid), EndRulingForm(request.POST)
    if ruling is None:
        raise Http404("There is no such ruling.")
    if not form.is_valid():
        messages.error(request, form.errors["reason"][0])
        return redirect("rulings", request.workspace.slug)
    try:
        change = end_ruling(ruling=ruling, by=request.actor, **form.cleaned_data)
    except Refused as refusal:
        messages.error(request, str(refusal))
    else:
        say_what_became(request, change, done=_("The ruling is ended."))
    return redirect("rulings", request.workspace.slug)
