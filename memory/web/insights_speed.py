"""How long tools take, by what they are given."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from memory.domain.insights.spans import SPANS, read_span
from memory.web.access import PageRequest, workspace_page


@require_GET
@workspace_page("look")
def speed(request: PageRequest) -> HttpResponse:
    """Latency by tool; of one tool by the shape of its parameters."""
    span = read_span(request.GET.get("days", ""))
    context = {"title": _("Speed"), "span": span, "spans": SPANS, "kept": ""}
    return render(request, "insights/speed.html", context)
