"""Tasks: the list, judging one, large values."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from memory.actions.judge import judge_task
from memory.domain.experience import OutcomeDoc
from memory.models import Payload, Task
from memory.queries.tasks import list_agents, list_tasks
from memory.web.access import PageRequest, workspace_page
from memory.web.filters import TaskFilterForm
from memory.web.forms import JudgeForm


@require_GET
@workspace_page("look")
def tasks(request: PageRequest) -> HttpResponse:
    """What agents did, newest first."""
    form = TaskFilterForm(request.GET)
    page = list_tasks(request.workspace, form.filters(), request.GET.get("cursor", ""))
    context = {"title": _("Tasks"), "form": form, "page": page, "is_filtered": bool(request.GET)}
    return render(request, "tasks/list.html", context | {"agents": list_agents(request.workspace)})


@require_POST
@workspace_page("judge_task")
def judge(request: PageRequest, uuid: UUID) -> HttpResponse:
    """A person's word on how a task ended: it outranks every other."""
    task = get_object_or_404(Task, workspace=request.workspace, uuid=uuid)
    form = JudgeForm(request.POST)
    if form.is_valid():
        judge_task(task=task, outcome=OutcomeDoc(**form.cleaned_data, by="human"), by=request.actor)
        messages.success(request, _("Your judgement is recorded."))
    else:
        messages.error(request, _("Say whether the task was a success or a failure."))
    return redirect("task", request.workspace.slug, uuid)


@require_GET
@workspace_page("look")
def payload(request: PageRequest, digest: str) -> HttpResponse:
    """A large value as plain text: agents wrote it, so it is never sent as a page."""
    row = get_object_or_404(Payload, workspace=request.workspace, digest=digest)
    answer = HttpResponse(row.body, content_type="text/plain; charset=utf-8")
    answer.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return answer
