"""Error patterns: the list, and setting one aside."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from memory.actions.patterns import triage_pattern
from memory.models import ErrorPattern
from memory.queries.patterns import list_patterns
from memory.web.access import PageRequest, workspace_page
from memory.web.filters import PatternFilterForm
from memory.web.forms import TriageForm


@require_GET
@workspace_page("look")
def patterns(request: PageRequest) -> HttpResponse:
    """The mistakes of this workspace, the most frequent first."""
    form = PatternFilterForm(request.GET)
    page = list_patterns(request.workspace, form.filters(), request.GET.get("cursor", ""))
    context = {"title": _("Error patterns"), "form": form, "page": page, "is_filtered": bool(request.GET)}
    return render(request, "patterns/list.html", context)


@require_POST
@workspace_page("triage_pattern")
def triage(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Ignore a pattern or take it up again, with a reason."""
    pattern = get_object_or_404(ErrorPattern, workspace=request.workspace, uuid=uuid)
    form = TriageForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Say why: the reason is kept in the audit trail."))
        return redirect("pattern", request.workspace.slug, uuid)
    try:
        triage_pattern(pattern=pattern, by=request.actor, **form.cleaned_data)
        messages.success(request, _("The status is changed."))
    except ValueError as refusal:
        messages.error(request, str(refusal))
    return redirect("pattern", request.workspace.slug, uuid)
