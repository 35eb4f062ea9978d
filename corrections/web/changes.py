"""Change requests: the list, one with what it would change, and how changes are approved."""

from typing import Any
from uuid import UUID

import msgspec
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods

from corrections.actions.changes import set_change_policy
from corrections.actions.gate import rollout_of
from corrections.domain.changes import SERVES, UNDECIDED, InvalidPolicyError, safe_policy
from corrections.domain.words import diff_words
from corrections.models import ChangeRequest
from corrections.queries import changes as queries
from corrections.queries.canary_pages import canary_of_change
from corrections.queries.dependencies import dependents_of
from corrections.web.change_buttons import change_buttons
from corrections.web.forms.changes import ChangeFilterForm, PolicyForm, RolloutForm, WhenForm
from memory.domain.access import may
from memory.queries.paging import newest_first
from memory.web.access import PageRequest, workspace_page

WARNED = ("edit", "disable", "retire", "delete")
"""Kinds of change after which a rule that needs this one may break."""


@require_GET
@workspace_page("look")
def changes(request: PageRequest) -> HttpResponse:
    """What is asked for: the undecided unless another status is chosen."""
    form = ChangeFilterForm(request.GET if "status" in request.GET else {"status": "undecided"})
    chosen = form.filters(request.actor.name)
    rows = queries.list_changes(workspace_id=request.workspace.pk, **chosen)
    context = {
        "title": _("Change requests"),
        "form": form,
        "status": chosen["status"],
        "page": newest_first(rows, request.GET.get("cursor", "")),
        "policy": safe_policy(request.workspace.settings),
    }
    return render(request, "changes/list.html", context)


@require_GET
@workspace_page("look")
def change(request: PageRequest, uuid: UUID) -> HttpResponse:
    """What would change, who approved it, and what it still lacks."""
    return shown(request, change_of(request, uuid))


def change_of(request: PageRequest, uuid: UUID) -> ChangeRequest:
    """The request of the workspace, or 404."""
    row = queries.get_change(workspace_id=request.workspace.pk, uuid=uuid)
    if row is None:
        raise Http404(_("There is no such change request."))
    return row


def shown(request: PageRequest, row: ChangeRequest, status: int = 200) -> HttpResponse:
    """The page of one request."""
    picture = queries.picture_of(row)
    is_asked = row.rule is not None and row.status in UNDECIDED and row.kind in WARNED
    context = {
        "dependents": dependents_of(row.rule, now=timezone.now()) if row.rule and is_asked else [],
        "title": row.title,
        "change": row,
        "picture": picture,
        "condition": _condition(picture.old, picture.new) if picture.changes else [],
        "lacking": lacking_sentence(row, picture),
        "buttons": change_buttons(row, request.actor, stale=picture.stale),
        "may_write": may(request.actor, "draft_rule"),
        "canary": canary_of_change(row),
        "rollout": rollout_of(row) if row.kind in SERVES else "",
        "rollout_form": RolloutForm(initial={"rollout": rollout_of(row)}) if row.kind in SERVES else None,
        "when_form": WhenForm(initial={"publish_at": row.publish_at}),
        "policy": safe_policy(row.workspace.settings),
    }
    return render(request, "changes/detail.html", context, status=status)


def lacking_sentence(row: ChangeRequest, picture: queries.ChangePicture) -> str:
    """In one sentence what stands between the request and its publication."""
    if row.status == "failed":
        return _("It could not be published: %(why)s") % {"why": row.failure}
    if row.status == "approved":
        return _("It is approved and is published when its time comes.")
    if row.status != "open":
        return ""
    if picture.stale:
        return picture.stale
    said = ngettext("It lacks %(n)d approval.", "It lacks %(n)d approvals.", picture.missing)
    return said % {"n": picture.missing}


def _condition(old: dict[str, Any], new: dict[str, Any]) -> list[Any]:
    """The condition word by word; nothing when it stays."""
    before, after = (str(side.get("condition") or "") for side in (old, new))
    return diff_words(before, after) if before != after and before else []


@require_http_methods(["GET", "POST"])
@workspace_page("manage_workspace")
def policy(request: PageRequest) -> HttpResponse:
    """How many approvals a change needs, and whose count."""
    stored = msgspec.to_builtins(safe_policy(request.workspace.settings))
    form = PolicyForm(request.POST or None, initial=stored)
    if request.method == "POST" and form.is_valid():
        try:
            set_change_policy(workspace_id=request.workspace.pk, changes=form.cleaned_data, by=request.actor)
        except InvalidPolicyError as problem:
            form.add_error(None, str(problem))
        else:
            messages.success(request, _("Saved. It holds for every decision from now on."))
            return redirect("change-policy", request.workspace.slug)
    context = {"title": _("How changes are approved"), "form": form}
    return render(request, "changes/policy.html", context)
