"""The overview of a workspace."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from memory.web.access import workspace_page
from memory.web.account import remember_workspace


@require_GET
@workspace_page("look")
def overview(request: HttpRequest) -> HttpResponse:
    """What happened lately, what repeats, what waits for a rule."""
    remember_workspace(request, request.workspace.slug)
    return render(request, "overview.html", {"title": _("Overview")})
