"""What a person does to a path, as POST forms: ask for a rewrite, roll back, retire."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from memory.actions.paths import retire_lineage, roll_back_path
from memory.actions.rewrites import request_rewrite
from memory.models import RewriteProposal
from memory.web.access import PageRequest, workspace_page
from memory.web.path_finding import find_path
from memory.web.path_forms import ReasonForm


@require_POST
@workspace_page("request_rewrite")
def path_rewrite(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Ask for a rewrite; the worker drafts it, a person decides."""
    return _change(request, uuid, request_rewrite, partial(_asked_text, request))


@require_POST
@workspace_page("roll_back_path")
def path_roll_back(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Make this version the active one again."""
    return _change(request, uuid, roll_back_path, lambda _path: _("This version is the active one again."))


@require_POST
@workspace_page("roll_back_path")
def path_retire(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Retire the path with all its versions."""
    return _change(request, uuid, retire_lineage, lambda _path: _("The path is retired. Its history stays."))


def _asked_text(request: PageRequest, proposal: RewriteProposal) -> str:
    """That it is asked for, with the way to it."""
    url = reverse("rewrite", args=[request.workspace.slug, proposal.uuid])
    said = _("The rewrite is asked for. The worker drafts it.")
    return format_html('{} <a href="{}">{}</a>', said, url, _("See the proposal"))


def _change(
    request: PageRequest, uuid: UUID, action: Callable[..., Any], done: Callable[[Any], str]
) -> HttpResponse:
    row, form = find_path(request, uuid), ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Say why: the reason is kept in the audit trail."))
        return redirect("path", request.workspace.slug, uuid)
    try:
        made = action(path=row, by=request.actor, reason=form.cleaned_data["reason"])
        messages.success(request, done(made))
    except ValueError as refusal:
        messages.error(request, str(refusal))
    return redirect("path", request.workspace.slug, uuid)
