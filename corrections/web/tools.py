"""One tool with its schema, its calls, what goes wrong with it, and what its changes mean for the rules."""

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from corrections.queries.impacts import list_impacts
from memory.queries.resources import tool_rows
from memory.queries.tools import tool_overview
from memory.web.access import PageRequest, workspace_page

SHOWN_IMPACTS = 10


@require_GET
@workspace_page("look")
def tool(request: PageRequest, uuid: UUID) -> HttpResponse:
    """One tool: its schema and how it changed, its calls and what goes wrong with it."""
    row = tool_rows(request.workspace.pk).filter(uuid=uuid).first()
    if row is None:
        raise Http404(_("There is no such tool."))
    overview = tool_overview(row, request.GET.get("cursor", ""))
    context = {"title": row.name, "tool": row, "overview": overview, "page": overview.calls}
    rows = list_impacts(workspace_id=request.workspace.pk, tool=row.uuid)
    return render(request, "tools/detail.html", context | {"impacts": list(rows[:SHOWN_IMPACTS])})
