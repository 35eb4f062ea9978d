"""Tools: the list, and the way to one by its name."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from memory.models import Tool
from memory.queries.tools import list_tools
from memory.web.access import PageRequest, workspace_page
from memory.web.filters import TextFilterForm


@require_GET
@workspace_page("look")
def tools(request: PageRequest) -> HttpResponse:
    """The tools agents call, the most called first."""
    form = TextFilterForm(request.GET)
    page = list_tools(request.workspace, form.wanted(), request.GET.get("cursor", ""))
    context = {"title": _("Tools"), "form": form, "page": page, "is_filtered": bool(form.wanted())}
    return render(request, "tools/list.html", context)


@require_GET
@workspace_page("look")
def tool_named(request: PageRequest) -> HttpResponse:
    """From a call, which only knows the name, to the tool's page."""
    name = request.GET.get("name", "").replace("\x00", "")  # PostgreSQL refuses NUL in a text
    row = get_object_or_404(Tool, workspace=request.workspace, name=name)
    return redirect("tool", request.workspace.slug, row.uuid)
