"""Changed tools: the list, what hangs on a change, and one decision for all rules, confirmed first."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_POST

from corrections.actions.impacts import MAX_REASON, Decided, decide_impact, undo_impact
from corrections.domain.impacts import DECISIONS
from corrections.domain.lifecycle import Refused
from corrections.models import ToolImpact
from corrections.queries.impacts import ImpactView, RuleImpact, get_impact, impact_view, list_impacts
from corrections.web.sessions import as_uuid
from memory.domain.access import may
from memory.queries.paging import newest_first
from memory.web.access import PageRequest, workspace_page

MAX_CHOSEN = 5_000
WORDS = {
    "disable": gettext_lazy("Disable"),
    "requeue": gettext_lazy("Look again"),
    "rebind": gettext_lazy("Bind to the new version"),
    "keep": gettext_lazy("Keep as they are"),
}


class DecideForm(forms.Form):
    """What to do, to which rules, and why."""

    decision = forms.ChoiceField(choices=[(name, name) for name in DECISIONS])
    reason = forms.CharField(
        max_length=MAX_REASON,
        error_messages={"required": gettext_lazy("Say why: the reason is kept with every rule.")},
    )
    only_new = forms.BooleanField(required=False)
    stay_open = forms.BooleanField(required=False)


@require_GET
@workspace_page("look")
def impacts(request: PageRequest) -> HttpResponse:
    """Tools that changed and wait for a decision; the decided ones on their own page."""
    is_closed = request.GET.get("closed") == "1"
    rows = list_impacts(workspace_id=request.workspace.pk, is_open=not is_closed)
    page = newest_first(rows, request.GET.get("cursor", ""))
    context = {"title": _("Changed tools"), "page": page, "is_closed": is_closed}
    return render(request, "impacts/list.html", context)


@require_GET
@workspace_page("look")
def impact(request: PageRequest, uuid: UUID) -> HttpResponse:
    """What changed, which rules, validators and paths hang on it, and the decision."""
    row = find_impact(request, uuid)
    context = {"title": row.tool.name, "impact": row, "view": impact_view(row), "words": WORDS}
    return render(request, "impacts/detail.html", context | {"may_decide": may(request.actor, "draft_rule")})


@require_POST
@workspace_page("draft_rule")
def impact_decide(request: PageRequest, uuid: UUID) -> HttpResponse:
    """First what it would do, and with ``confirmed`` the doing."""
    row, form = find_impact(request, uuid), DecideForm(request.POST)
    if not form.is_valid():
        messages.error(request, next(iter(form.errors.values()))[0])
        return redirect("impact", request.workspace.slug, uuid)
    said, chosen = form.cleaned_data, chosen_rules(request.POST)
    if request.POST.get("confirmed") != "1":
        return render(request, "impacts/confirm.html", asked(row, said, chosen))
    try:
        result = decide_impact(
            impact=row, decision=said["decision"], reason=said["reason"], by=request.actor, rules=chosen,
            only_new=said["only_new"], close=not said["stay_open"],
        )  # fmt: skip
        tell(request, result)
    except Refused as refusal:
        messages.error(request, str(refusal))
    return redirect("impact", request.workspace.slug, uuid)


@require_POST
@workspace_page("draft_rule")
def impact_undo(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Serve again what was disabled for this change."""
    row = find_impact(request, uuid)
    try:
        tell(request, undo_impact(impact=row, reason=request.POST.get("reason", ""), by=request.actor))
    except Refused as refusal:
        messages.error(request, str(refusal))
    return redirect("impact", request.workspace.slug, uuid)


def find_impact(request: PageRequest, uuid: UUID) -> ToolImpact:
    """The workspace's impact, or 404."""
    row = get_impact(workspace_id=request.workspace.pk, uuid=uuid)
    if row is None:
        raise Http404(_("There is no such change of a tool."))
    return row


def chosen_rules(post: QueryDict) -> list[UUID] | None:
    """The ticked rules; None for all affected ones."""
    if post.get("which") != "chosen":
        return None
    return [uuid for uuid in map(as_uuid, post.getlist("rule")[:MAX_CHOSEN]) if uuid]


def asked(row: ToolImpact, said: dict[str, Any], chosen: list[UUID] | None) -> dict[str, Any]:
    """What the confirmation shows."""
    view = impact_view(row)
    return {
        "title": WORDS[said["decision"]], "impact": row, "view": view, "said": said,
        "chosen": chosen is not None, "rows": touched(view, said["decision"], chosen),
    }  # fmt: skip


def touched(view: ImpactView, decision: str, chosen: list[UUID] | None) -> list[RuleImpact]:
    """The rules that the decision is about."""
    if decision == "keep":
        return []
    if chosen is None:
        return view.affected
    wanted = set(chosen)
    return [row for row in view.rules if row.rule.uuid in wanted]


def tell(request: PageRequest, result: Decided) -> None:
    """Say what was done, what waits and what was left alone."""
    done = len(result.done)
    if result.decision == "keep":
        messages.success(request, _("Noted: the rules stay as they are."))
    else:
        said = ngettext("Done for %(n)s rule.", "Done for %(n)s rules.", done) % {"n": done}
        if result.waits:
            waits = ngettext(
                "%(n)s change waits for approval.", "%(n)s changes wait for approval.", result.waits
            )
            said = f"{said} {waits % {'n': result.waits}}"
        messages.success(request, said)
    for rule, why in result.skipped[:10]:
        messages.warning(request, _("%(rule)s was left alone: %(why)s") % {"rule": rule.name, "why": why})
