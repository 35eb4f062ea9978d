"""One search box over tasks, patterns, tools and rules."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from memory.web.access import workspace_page


@require_GET
@workspace_page("look")
def search(request: HttpRequest) -> HttpResponse:
    """What matches, at most a handful of each kind."""
    return render(request, "search.html", {"title": _("Search")})
