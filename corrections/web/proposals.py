"""Rule proposals: the list, one with its backtest, and the decision on it."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from corrections.actions.asking_model import ask_again, ask_model
from corrections.actions.proposals import accept_proposal, propose_again, reject_proposal
from corrections.domain.lifecycle import Refused
from corrections.domain.proposing import moment_of
from corrections.models import RuleProposal
from corrections.queries import proposals as queries
from corrections.web.proposal_forms import AcceptForm, ProposalFilterForm, RejectForm, ReopenForm
from corrections.web.rules import read_document_of
from hgmem.rules import RuleError
from memory.domain.access import NotPermitted, may
from memory.queries.finished import count_finished
from memory.queries.linking import facts_of
from memory.web.access import PageRequest, workspace_page

WAITING_SHOWN = 1_000


@require_GET
@workspace_page("look")
def proposals(request: PageRequest) -> HttpResponse:
    """What waits for a decision, most evidence first; everything else by filter."""
    form, workspace = ProposalFilterForm(request.GET), request.workspace
    page = queries.page_of_proposals(
        workspace_id=workspace.pk, filters=form.filters(), order=form.cleaned_data.get("order") or "",
        cursor=request.GET.get("cursor", ""),
    )  # fmt: skip
    may_review = may(request.actor, "review_change")
    may_choose = may_review and any(row.status == "proposed" for row in page.rows)
    context: dict[str, Any] = {"title": _("Rule proposals"), "form": form, "page": page}
    context |= {"rows": [(row, read_document_of(row)) for row in page.rows], "may_choose": may_choose}
    context |= {"status": form.listed(), "counts": queries.count_proposals(workspace.pk)}
    context |= {"may_review": may_review, "page_keys": list_keys() if may_review else []}
    context |= reading(workspace.pk)
    return render(request, "proposals/list.html", context)


def reading(workspace_id: int) -> dict[str, Any]:
    """How far the inducer is."""
    induction = queries.get_induction(workspace_id)
    after = moment_of(induction.cursor if induction else 0)
    waiting = count_finished(workspace_id=workspace_id, after=after, most=WAITING_SHOWN)
    return {"induction": induction, "tasks_waiting": waiting}


@require_GET
@workspace_page("look")
def proposal(request: PageRequest, uuid: UUID) -> HttpResponse:
    """One proposal: what it would do, its backtest, and the decision."""
    return shown(request, proposal_of(request, uuid))


def proposal_of(request: PageRequest, uuid: UUID) -> RuleProposal:
    """The workspace's proposal, or 404."""
    found = queries.find_proposal(workspace_id=request.workspace.pk, uuid=uuid)
    if found is None:
        raise Http404(_("There is no such proposal."))
    return found


def shown(request: PageRequest, row: RuleProposal, status: int = 200) -> HttpResponse:
    """The page of a proposal."""
    may_review = may(request.actor, "review_change")
    calls = queries.calls_of_proposal(row)
    context: dict[str, Any] = {"title": row.name, "proposal": row, "read": read_document_of(row)}
    context |= {"caught": calls["caught"], "missed": calls["missed"], "hit": calls["hit"]}
    context |= {"patterns": facts_of(row.patterns.values_list("pk", flat=True))}
    context |= {"similar": queries.similar_rules(row), "may_review": may_review}
    context |= {"may_ask": may(request.actor, "draft_rule")}
    context |= {"may_edit": may_review and may(request.actor, "draft_rule")}
    context |= {"following": queries.following_proposal(row), "preceding": queries.preceding_proposal(row)}
    context |= {"page_keys": detail_keys() if may_review else []}
    return render(request, "proposals/detail.html", context, status=status)


def list_keys() -> list[tuple[str, str]]:
    """The keys of the list, for the help."""
    return [("a", _("Accept the row (asks first)")), ("r", _("Reject the row (asks first)")),
            ("x", _("Choose the row"))]  # fmt: skip


def detail_keys() -> list[tuple[str, str]]:
    """The keys of a proposal's page, for the help."""
    return [("a", _("Accept (asks first)")), ("r", _("Reject (asks first)")), ("e", _("Edit, then accept")),
            ("n", _("Next proposal")), ("p", _("Previous proposal"))]  # fmt: skip


@require_POST
@workspace_page("review_change")
def accept(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Make it a rule; then on to the next proposal."""
    row, form = proposal_of(request, uuid), AcceptForm(request.POST)
    following = queries.following_proposal(row)
    try:
        note = cleaned(form)["note"]
        made = accept_proposal(proposal=row, by=request.actor, note=note)
    except (Refused, RuleError, NotPermitted, ValueError) as refusal:
        messages.error(request, str(refusal))
        return shown(request, proposal_of(request, uuid), 409)
    messages.success(request, accepted_text(request, made.rule))
    return onward(request, following)


@require_POST
@workspace_page("review_change")
def reject(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Say no with a reason; then on to the next proposal."""
    row = proposal_of(request, uuid)
    following = queries.following_proposal(row)
    try:
        reason = cleaned(RejectForm(request.POST))["reason"]
        reject_proposal(proposal=row, by=request.actor, reason=reason)
    except (Refused, NotPermitted, ValueError) as refusal:
        messages.error(request, str(refusal))
        return shown(request, proposal_of(request, uuid), 409)
    url = reverse("proposal", args=[request.workspace.slug, uuid])
    said = _("The proposal is rejected.")
    messages.success(request, format_html('{} <a href="{}">{}</a>', said, url, _("See it, or take it back")))
    return onward(request, following)


@require_POST
@workspace_page("review_change")
def reopen(request: PageRequest, uuid: UUID) -> HttpResponse:
    """To be decided again."""
    row = proposal_of(request, uuid)
    try:
        reason = cleaned(ReopenForm(request.POST))["reason"]
        propose_again(proposal=row, by=request.actor, reason=reason)
    except (Refused, NotPermitted, ValueError) as refusal:
        messages.error(request, str(refusal))
        return shown(request, proposal_of(request, uuid), 409)
    messages.success(request, _("It waits for a decision again."))
    return redirect("proposal", request.workspace.slug, uuid)


@require_POST
@workspace_page("draft_rule")
def ask(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Ask a language model for a rule against this error pattern."""
    try:
        row = ask_model(workspace_id=request.workspace.pk, pattern=uuid, by=request.actor)
    except LookupError as refusal:
        raise Http404(str(refusal)) from refusal
    except Refused as refusal:
        messages.error(request, str(refusal))
        return redirect("pattern", request.workspace.slug, uuid)
    messages.success(request, _("The model is asked. Its draft appears here, to be decided on."))
    return redirect("proposal", request.workspace.slug, row.uuid)


@require_POST
@workspace_page("draft_rule")
def retry(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Ask the model once more."""
    row = proposal_of(request, uuid)
    try:
        ask_again(proposal=row, by=request.actor)
    except Refused as refusal:
        messages.error(request, str(refusal))
        return shown(request, proposal_of(request, uuid), 409)
    return redirect("proposal", request.workspace.slug, uuid)


def cleaned(form: forms.Form) -> dict[str, Any]:
    """What was filled in. Raises ValueError with the first fault's sentence."""
    for errors in form.errors.values():
        raise ValueError(errors[0])
    return form.cleaned_data


def accepted_text(request: PageRequest, rule: Any) -> str:
    """What became of it, with the way to the rule."""
    url = reverse("rule", args=[request.workspace.slug, rule.uuid])
    if rule.status == "active":
        said = _("The proposal is a rule now, and agents are served it.")
    elif rule.status == "canary":
        said = _("The proposal is a rule now, and on trial: some tasks get it first.")
    else:
        said = _("The proposal is a rule now. It is served when its change request is approved.")
    return format_html('{} <a href="{}">{}</a>', said, url, _("To the rule"))


def onward(request: PageRequest, following: RuleProposal | None) -> HttpResponse:
    """The next proposal that waits, or the list when none does."""
    if following is None:
        return redirect("proposals", request.workspace.slug)
    return redirect("proposal", request.workspace.slug, following.uuid)
