"""One search box over tasks, patterns, tools and rules."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from corrections.queries.search import search_rules
from memory.queries.search import search_memory
from memory.web.access import PageRequest, workspace_page


@require_GET
@workspace_page("look")
def search(request: PageRequest) -> HttpResponse:
    """What matches, at most a handful of each kind."""
    text = request.GET.get("q", "").strip()[:200].replace("\x00", "")
    context: dict[str, Any] = {"title": _("Search"), "text": text, "found": None, "rules": []}
    if text:
        context |= {"found": search_memory(request.workspace, text)}
        context |= {"rules": search_rules(request.workspace.pk, text)}
    return render(request, "search.html", context)
