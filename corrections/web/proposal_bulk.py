"""Several proposals decided together: chosen in the list, confirmed on a page of their own."""

from typing import Any, Literal
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from corrections.actions.proposals import decide_proposals
from corrections.models import RuleProposal
from corrections.queries.proposals import chosen_proposals
from corrections.web.rules import read_document_of
from corrections.web.sessions import as_uuid
from memory.web.access import PageRequest, workspace_page

MAX_CHOSEN = 200
DECISIONS: dict[str, Literal["accept", "reject"]] = {"accept": "accept", "reject": "reject"}


@require_http_methods(["GET", "POST"])
@workspace_page("review_change")
def decide(request: PageRequest) -> HttpResponse:
    """GET shows the chosen proposals and asks; POST decides each by itself and says what became of it."""
    asked = request.POST if request.method == "POST" else request.GET
    do = DECISIONS.get(asked.get("do", ""))
    rows = chosen_proposals(workspace_id=request.workspace.pk, uuids=chosen(asked))
    if do is None or not rows:
        messages.error(request, _("Choose at least one proposal."))
        return redirect("proposals", request.workspace.slug)
    reason = asked.get("reason", "").strip()[:2_000]
    if request.method == "POST" and (reason or do == "accept"):
        refused = decide_proposals(proposals=rows, do=do, by=request.actor, reason=reason)
        report(request, do, rows, refused)
        return redirect("proposals", request.workspace.slug)
    if request.method == "POST":
        messages.error(request, _("Say why the proposals are rejected."))
    title = _("Accept these proposals?") if do == "accept" else _("Reject these proposals?")
    context: dict[str, Any] = {"title": title, "do": do, "count": len(rows)}
    context |= {"rows": [(row, read_document_of(row)) for row in rows]}
    return render(request, "proposals/decide_all.html", context)


def chosen(asked: QueryDict) -> list[UUID]:
    """The chosen proposals; what is no uuid is left out."""
    found = [as_uuid(text) for text in asked.getlist("proposal")[:MAX_CHOSEN]]
    return [uuid for uuid in found if uuid is not None]


def report(request: PageRequest, do: str, rows: list[RuleProposal], refused: list[str]) -> None:
    """Say how many were decided, and each that was not with its reason."""
    done = len(rows) - len(refused)
    if do == "accept":
        said = ngettext("%(n)d proposal is accepted.", "%(n)d proposals are accepted.", done)
    else:
        said = ngettext("%(n)d proposal is rejected.", "%(n)d proposals are rejected.", done)
    if done:
        messages.success(request, said % {"n": done})
    for text in refused:
        messages.error(request, text[:600])
