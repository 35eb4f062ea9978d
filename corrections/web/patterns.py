"""One error pattern with its occurrences, its neighbours and the rules that cover it."""

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from corrections.queries.proposals import proposals_of_pattern
from corrections.queries.rules import rules_of_pattern
from memory.domain.access import may
from memory.domain.analysis import TASK_LEVEL
from memory.live.chat import configured_endpoint
from memory.queries.patterns import find_pattern, list_occurrences, list_similar
from memory.web.access import PageRequest, workspace_page
from memory.web.forms import TriageForm


@require_GET
@workspace_page("look")
def pattern(request: PageRequest, uuid: UUID) -> HttpResponse:
    """What went wrong, where, how often, and what is done about it."""
    row = find_pattern(request.workspace, uuid)
    if row is None:
        raise Http404(_("There is no such error pattern."))
    context = {
        "title": row.title,
        "pattern": row,
        "page": list_occurrences(row, request.GET.get("cursor", "")),
        "similar": list_similar(row),
        "proposals": proposals_of_pattern(workspace_id=request.workspace.pk, pattern=row.uuid),
        "rules": rules_of_pattern(workspace_id=request.workspace.pk, pattern=row.uuid),
        "triage_form": TriageForm() if may(request.actor, "triage_pattern") else None,
        "may_draft": row.tool != TASK_LEVEL and may(request.actor, "draft_rule"),
        "has_model": configured_endpoint() is not None,
        "is_task_level": row.tool == TASK_LEVEL,
    }
    return render(request, "patterns/detail.html", context)
