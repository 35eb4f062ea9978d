"""Tasks: the list, the timeline of one, large values."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from memory.models import Payload, Task
from memory.permissions import may
from memory.queries.paging import read_number
from memory.queries.tasks import list_agents, list_tasks, task_timeline
from memory.web.access import workspace_page
from memory.web.filters import TaskFilterForm
from memory.web.forms import JudgeForm


@require_GET
@workspace_page("look")
def tasks(request: HttpRequest) -> HttpResponse:
    """What agents did, newest first."""
    form = TaskFilterForm(request.GET or None)
    filters = form.filters()
    page = list_tasks(request.workspace, filters, request.GET.get("cursor", ""))
    context = {"title": _("Tasks"), "form": form, "page": page, "agents": list_agents(request.workspace)}
    return render(request, "tasks/list.html", context | {"is_filtered": bool(request.GET)})


@require_GET
@workspace_page("look")
def task(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """One task: its calls in order, what failed, who said what."""
    row = get_object_or_404(Task, workspace=request.workspace, uuid=uuid)
    after = read_number(request.GET.get("after", ""))
    timeline = task_timeline(row, after=-1 if after is None else after)
    context = {
        "title": row.goal[:120] or row.external_id,
        "task": row,
        "timeline": timeline,
        "entries": timeline.entries,
        "judge_form": JudgeForm() if may(request.actor, "judge_task") else None,
    }
    return render(request, "tasks/detail.html", context)


@require_GET
@workspace_page("look")
def payload(request: HttpRequest, digest: str) -> HttpResponse:
    """A large value as plain text: agents wrote it, so it is never sent as a page."""
    row = get_object_or_404(Payload, workspace=request.workspace, digest=digest)
    answer = HttpResponse(row.body, content_type="text/plain; charset=utf-8")
    answer.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return answer
