"""One search box over tasks, patterns, tools and rules."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from corrections.live.finding import FoundTexts, find_texts
from memory.queries.search import Found, search_memory
from memory.web.access import PageRequest, workspace_page


@require_GET
@workspace_page("look")
def search(request: PageRequest) -> HttpResponse:
    """What matches by letter, and of rules and patterns what is near in meaning: a handful of each kind."""
    text = request.GET.get("q", "").strip()[:200].replace("\x00", "")
    context: dict[str, Any] = {"title": _("Search"), "text": text, "found": None}
    if text:
        found, near = search_memory(request.workspace, text), find_texts(request.workspace.pk, text)
        context |= {"found": found, "near": near, "rules": near.of("rule"), "patterns": near.of("pattern")}
        context |= {"new_patterns": _others(found, near)}
    return render(request, "search.html", context)


def _others(found: Found, near: FoundTexts) -> list[Any]:
    """Patterns that hold the text and that the index does not know yet."""
    known = {item.row.pk for item in near.of("pattern")}
    return [pattern for pattern in found.patterns if pattern.pk not in known]
