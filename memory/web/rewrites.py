"""The rewrites queue: the list, one proposal with both graphs, and the decision on it."""

from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from memory.actions.rewrites import approve_rewrite, reject_rewrite, retry_rewrite
from memory.domain.access import may
from memory.models import Path, RewriteProposal
from memory.queries.reviewing import (
    count_waiting,
    find_rewrite,
    next_to_decide,
    previous_to_decide,
    review_of,
)
from memory.queries.rewrites import OPEN_STATUSES, list_rewrites
from memory.web.access import PageRequest, workspace_page
from memory.web.path_comparing import compare_paths
from memory.web.path_drawings import draw_path
from memory.web.rewrite_forms import ApproveForm, RejectForm, RewriteFilterForm, RewriteRetryForm

Made = TypeVar("Made")


@require_GET
@workspace_page("look")
def rewrites(request: PageRequest) -> HttpResponse:
    """What waits for a decision; everything else by filter."""
    form = RewriteFilterForm(request.GET)
    page = list_rewrites(request.workspace, form.filters(), request.GET.get("cursor", ""))
    context = {"title": _("Rewrites"), "form": form, "page": page, "status": form.listed()}
    may_review = may(request.actor, "review_rewrite")
    context |= {"counts": count_waiting(request.workspace), "may_review": may_review}
    statuses = {row.status for row in page.rows} if may_review else set()
    context |= {"may_approve": "proposed" in statuses, "may_choose": not statuses.isdisjoint(OPEN_STATUSES)}
    context |= {"page_keys": list_keys() if may_review else []}
    return render(request, "rewrites/list.html", context)


@require_GET
@workspace_page("look")
def rewrite(request: PageRequest, uuid: UUID) -> HttpResponse:
    """One proposal: both graphs, what changes, why, and the decision."""
    proposal = proposal_of(request, uuid)
    answer = shown(request, proposal)
    if request.headers.get("HX-Request") and proposal.status != "queued":
        answer.headers["HX-Refresh"] = "true"  # the page waited for the draft
    return answer


def proposal_of(request: PageRequest, uuid: UUID) -> RewriteProposal:
    """The workspace's proposal, or 404."""
    proposal = find_rewrite(request.workspace.pk, uuid)
    if proposal is None:
        raise Http404("There is no such rewrite.")
    return proposal


def shown(request: PageRequest, proposal: RewriteProposal, status: int = 200) -> HttpResponse:
    """The page of a proposal."""
    review = review_of(proposal)
    context: dict[str, Any] = {
        "title": Truncator(review.old.goal).chars(110) or proposal.path.key, "proposal": proposal,
        "review": review, "compared": None, "drawing": None, "page_keys": detail_keys(),
        "following": next_to_decide(proposal), "preceding": previous_to_decide(proposal),
        "may_review": may(request.actor, "review_rewrite"),
        "may_roll_back": may(request.actor, "roll_back_path") and is_undoable(proposal),
    }  # fmt: skip
    now = _("Now: version %(n)d") % {"n": proposal.path.version}
    if review.new is not None:
        context["compared"] = compare_paths(review.old, review.new, old_title=now, new_title=_("Proposed"))
    else:
        context["drawing"] = draw_path(review.old, title=now)
    return render(request, "rewrites/detail.html", context, status=status)


def is_undoable(proposal: RewriteProposal) -> bool:
    """Whether the version that was approved is still the active one."""
    return proposal.new_path is not None and proposal.new_path.status == "active"


def list_keys() -> list[tuple[str, str]]:
    """The keys of the list, for the help."""
    return [("a", _("Approve the row (asks first)")), ("r", _("Reject the row (asks first)")),
            ("e", _("Edit the row")), ("x", _("Choose the row"))]  # fmt: skip


def detail_keys() -> list[tuple[str, str]]:
    """The keys of a proposal's page, for the help."""
    return [("a", _("Approve (asks first)")), ("r", _("Reject (asks first)")), ("e", _("Edit")),
            ("n", _("Next in the queue")), ("p", _("Previous in the queue"))]  # fmt: skip


@require_POST
@workspace_page("review_rewrite")
def approve(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Make the next version, with the other paths that were chosen; then on to the next proposal."""
    proposal = proposal_of(request, uuid)
    new = decided(request, proposal, approve_rewrite, ApproveForm(request.POST))
    if new is None:
        return shown(request, proposal_of(request, uuid), 409)
    messages.success(request, approved_text(request, proposal, new))
    return onward(request, proposal)


@require_POST
@workspace_page("review_rewrite")
def reject(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Say no with a reason; then on to the next proposal."""
    proposal = proposal_of(request, uuid)
    if decided(request, proposal, reject_rewrite, RejectForm(request.POST)) is None:
        return shown(request, proposal_of(request, uuid), 409)
    messages.success(request, _("The rewrite is rejected."))
    return onward(request, proposal)


@require_POST
@workspace_page("review_rewrite")
def retry(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Draft again what was handed over or given up."""
    proposal = proposal_of(request, uuid)
    if decided(request, proposal, retry_rewrite, RewriteRetryForm(request.POST)) is None:
        return shown(request, proposal_of(request, uuid), 409)
    messages.success(request, _("It is queued again. The page shows the draft as soon as there is one."))
    return redirect("rewrite", request.workspace.slug, uuid)


def decided(
    request: PageRequest, proposal: RewriteProposal, act: Callable[..., Made], form: forms.Form
) -> Made | None:
    """What the action made of the form, or None with the reason among the messages."""
    if not form.is_valid():
        for errors in form.errors.values():
            messages.error(request, errors[0])
        return None
    try:
        return act(proposal=proposal, by=request.actor, **form.cleaned_data)
    except ValueError as refusal:  # every refusal of these actions is one, with a sentence
        messages.error(request, str(refusal))
        return None


def approved_text(request: PageRequest, proposal: RewriteProposal, new: Path) -> str:
    """What was approved, with the way back."""
    url = reverse("rewrite", args=[request.workspace.slug, proposal.uuid])
    said = _("Version %(n)d of %(key)s is active now.") % {"n": new.version, "key": new.lineage.key}
    return format_html('{} <a href="{}">{}</a>', said, url, _("See it, or take it back"))


def onward(request: PageRequest, proposal: RewriteProposal) -> HttpResponse:
    """The next proposal that waits, or the list when none does."""
    following = next_to_decide(proposal)
    if following is None:
        messages.info(request, _("That was the last one: nothing waits for a decision."))
        return redirect("rewrites", request.workspace.slug)
    return redirect("rewrite", request.workspace.slug, following.uuid)
