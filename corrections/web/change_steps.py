"""Decisions on a change request, as POST forms."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from corrections.actions import changes as actions
from corrections.domain.lifecycle import ReasonMissing, Refused
from corrections.web.changes import change_of, shown
from corrections.web.forms.changes import ApproveForm, CommentForm, RevisionForm, WhenForm, WhyForm
from hgmem.rules import RuleError
from memory.domain.lifecycle import TransitionError
from memory.web.access import PageRequest, workspace_page


@require_POST
@workspace_page("review_change")
def approve(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Let the revision through that was looked at."""
    return _decide(request, uuid, actions.approve_change, ApproveForm(request.POST), _("Approved."))


@require_POST
@workspace_page("review_change")
def reject(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Say no, with a reason."""
    return _decide(request, uuid, actions.reject_change, WhyForm(request.POST), _("Rejected."))


@require_POST
@workspace_page("draft_rule")
def withdraw(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Take it back."""
    return _decide(request, uuid, actions.withdraw_change, WhyForm(request.POST), _("Withdrawn."))


@require_POST
@workspace_page("draft_rule")
def reopen(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Take it up again."""
    return _decide(request, uuid, actions.reopen_change, WhyForm(request.POST), _("It is open again."))


@require_POST
@workspace_page("draft_rule")
def rebase(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Write it anew on top of what is served now, keeping what it wants."""
    done = _("It is up to date now. Look at it again before it is approved.")
    return _decide(request, uuid, actions.rebase_change, RevisionForm(request.POST), done)


@require_POST
@workspace_page("draft_rule")
def schedule(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Say when it is published once it is approved."""
    done = _("The time of publication is set. Approvals given before do not count any more.")
    return _decide(request, uuid, actions.schedule_change, WhenForm(request.POST), done)


@require_POST
@workspace_page("draft_rule")
def comment(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Say something under it."""
    return _decide(request, uuid, actions.comment_on_change, CommentForm(request.POST), _("Said."))


def _decide(
    request: PageRequest, uuid: UUID, act: Callable[..., Any], form: forms.Form, done: str
) -> HttpResponse:
    """Act and go back to the request; what refuses it is said there, with what is true now."""
    row = change_of(request, uuid)
    if not form.is_valid():
        for errors in form.errors.values():
            messages.error(request, errors[0])
        return shown(request, row, 422)
    try:
        act(change=row, by=request.actor, **form.cleaned_data)
    except (Refused, TransitionError, RuleError, ReasonMissing) as refusal:
        messages.error(request, str(refusal))
        return shown(request, change_of(request, uuid), 409)
    messages.success(request, done)
    return redirect("change", request.workspace.slug, uuid)
