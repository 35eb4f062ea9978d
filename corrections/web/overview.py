"""The overview of a workspace, and its health."""

from datetime import timedelta

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from corrections.queries.changes import list_failed
from corrections.queries.inbox import count_items
from corrections.queries.rulesets import get_stamp
from memory.domain.access import may
from memory.domain.trends import draw_chart, fill_days, rate_of, total_of
from memory.queries.health import get_backlog
from memory.queries.overview import count_paths_and_uses, has_any_task, list_days, list_recent_failures
from memory.queries.patterns import list_uncovered
from memory.web.access import PageRequest, workspace_page
from memory.web.account import remember_workspace

SPANS = (7, 30, 90)
LATELY = timedelta(days=7)


@require_GET
@workspace_page("look")
def overview(request: PageRequest) -> HttpResponse:
    """What happened lately, what repeats, what waits for a rule. ``?days=`` one of 7, 30, 90."""
    workspace = request.workspace
    remember_workspace(request, workspace.slug)
    asked = request.GET.get("days", "")
    span = int(asked) if asked in map(str, SPANS) else 30
    today = timezone.now().date()
    days = fill_days(list_days(workspace, since=today - timedelta(days=span - 1)), until=today, span=span)
    total = total_of(days)
    context = {"title": _("Overview"), "span": span, "spans": SPANS, "days": days, "total": total}
    context |= {"chart": draw_chart(days), "repeat_rate": rate_of(total.repeats, total.calls)}
    context |= {"failure_rate": rate_of(min(total.failures, total.calls), total.calls)}
    context |= {"uncovered": list_uncovered(workspace), "failures": list_recent_failures(workspace)}
    context |= {"backlog": get_backlog(workspace.pk), "stamp": get_stamp(workspace.pk)}
    waiting = count_items(workspace.pk)
    context |= {"waiting": waiting, "waiting_all": sum(waiting.values())}
    context |= {"has_tasks": has_any_task(workspace), "may_draft": may(request.actor, "draft_rule")}
    context |= {"paths": count_paths_and_uses(workspace, since=timezone.now() - LATELY)}
    context |= {"failed_changes": list_failed(workspace.pk)}
    return render(request, "overview.html", context)
