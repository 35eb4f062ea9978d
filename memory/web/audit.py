"""The audit trail."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from memory.queries.audit import changes_of, list_events
from memory.web.access import PageRequest, workspace_page
from memory.web.filters import AuditFilterForm


@require_GET
@workspace_page("see_audit")
def audit(request: PageRequest) -> HttpResponse:
    """Who did what, with old and new values, newest first."""
    form = AuditFilterForm(request.GET)
    page = list_events(
        request.workspace,
        text=form.value("text"),
        kind=form.value("kind"),
        cursor=request.GET.get("cursor", ""),
    )
    rows = [(event, changes_of(event)) for event in page.rows]
    context = {
        "title": _("Audit"),
        "form": form,
        "page": page,
        "rows": rows,
        "is_filtered": bool(request.GET),
    }
    return render(request, "audit/list.html", context)
