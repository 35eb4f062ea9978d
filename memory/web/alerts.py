"""The alerts inbox: what a person should look at, open ones first."""

from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from memory.actions.alerts import AlreadyClosedError, close_alert, resume_rewriting
from memory.domain.access import may
from memory.models import Lineage
from memory.queries.alerts import list_alert_cards
from memory.queries.rewrites import alert_rows
from memory.web.access import PageRequest, workspace_page


class CloseForm(forms.Form):
    """What was done about an alert."""

    note = forms.CharField(
        label=gettext_lazy("What you found or did"), max_length=2_000,
        error_messages={"required": gettext_lazy("Say what you found: the note is kept with the alert.")},
    )  # fmt: skip
    resume = forms.BooleanField(required=False)


@require_GET
@workspace_page("look")
def alerts(request: PageRequest) -> HttpResponse:
    """Open alerts; the closed ones on their own page."""
    is_closed = request.GET.get("closed") == "1"
    page = list_alert_cards(request.workspace, request.GET.get("cursor", ""), is_open=not is_closed)
    context = {"title": _("Alerts"), "page": page, "is_closed": is_closed}
    return render(request, "alerts/list.html", context | {"may_handle": may(request.actor, "handle_alert")})


@require_POST
@workspace_page("handle_alert")
def close(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Somebody looked; with ``resume`` the lineage is rewritten automatically again."""
    alert, form = get_object_or_404(alert_rows(request.workspace.pk), uuid=uuid), CloseForm(request.POST)
    if not form.is_valid():
        messages.error(request, next(iter(form.errors.values()))[0])
        return redirect("alerts", request.workspace.slug)
    try:
        close_alert(alert=alert, by=request.actor, **form.cleaned_data)
        messages.success(request, _("The alert is closed."))
    except AlreadyClosedError as refusal:
        messages.error(request, str(refusal))
    return redirect("alerts", request.workspace.slug)


@require_POST
@workspace_page("handle_alert")
def resume(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Automatic rewriting of a lineage goes on, after its alert was closed without that."""
    lineage = get_object_or_404(Lineage, workspace=request.workspace, uuid=uuid)
    resume_rewriting(lineage=lineage, by=request.actor, reason=request.POST.get("reason", ""))
    messages.success(request, _("Automatic rewriting of this path goes on."))
    return redirect("alerts", request.workspace.slug)
