"""One error pattern with its occurrences, its neighbours and the rules that cover it."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from corrections.queries.coverage import list_covering_rules
from memory.models import ErrorPattern
from memory.permissions import may
from memory.queries.patterns import list_occurrences, list_similar
from memory.web.access import workspace_page
from memory.web.forms import TriageForm


@require_GET
@workspace_page("look")
def pattern(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """What went wrong, where, how often, and what is done about it."""
    row = get_object_or_404(ErrorPattern, workspace=request.workspace, uuid=uuid)
    context = {
        "title": row.title,
        "pattern": row,
        "page": list_occurrences(row, request.GET.get("cursor", "")),
        "similar": list_similar(row),
        "rules": list_covering_rules(row.pk),
        "triage_form": TriageForm() if may(request.actor, "triage_pattern") else None,
        "may_draft": may(request.actor, "draft_rule"),
    }
    return render(request, "patterns/detail.html", context)
