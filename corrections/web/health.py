"""How the installation is doing, as far as this workspace is concerned."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from corrections.queries.receipts import count_waiting
from corrections.queries.rules import count_by_status
from corrections.queries.rulesets import get_stamp
from memory.live.index import get_index_state
from memory.queries.checks import health_checks
from memory.queries.health import (
    count_waiting_insights,
    count_waiting_paths,
    get_backlog,
    list_unbuilt,
    list_uncounted,
    list_unreadable,
    list_unsettled,
)
from memory.web.access import PageRequest, workspace_page


@require_GET
@workspace_page("look")
def health(request: PageRequest) -> HttpResponse:
    """The worker's backlog, what it could not read, the ruleset served, what runs underneath."""
    workspace = request.workspace
    context = {
        "title": _("Health"),
        "backlog": get_backlog(workspace.pk),
        "unreadable": list_unreadable(workspace.pk),
        "paths_waiting": count_waiting_paths(workspace.pk),
        "insights_waiting": count_waiting_insights(workspace.pk),
        "uncounted": list_uncounted(workspace.pk),
        "unbuilt": list_unbuilt(workspace.pk),
        "unsettled": list_unsettled(workspace.pk),
        "receipts": count_waiting(workspace.pk),
        "stamp": get_stamp(workspace.pk),
        "rules": count_by_status(workspace.pk),
        "checks": health_checks(),
        "index": get_index_state(workspace.pk),
    }
    return render(request, "health.html", context)
