"""One task: its calls in order, what failed, which corrections it was given."""

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from corrections.live.signing import receipt_keys
from corrections.queries.timeline import show_receipts
from memory.domain.access import may
from memory.queries.paging import read_number
from memory.queries.paths import paths_of_task
from memory.queries.tasks import find_task, task_timeline
from memory.web.access import PageRequest, workspace_page
from memory.web.forms import JudgeForm


@require_GET
@workspace_page("look")
def task(request: PageRequest, uuid: UUID) -> HttpResponse:
    """The timeline, ``?after=`` a call's number."""
    row = find_task(request.workspace, uuid)
    if row is None:
        raise Http404(_("There is no such task."))
    after = read_number(request.GET.get("after", ""))
    timeline = task_timeline(row, after=-1 if after is None else after)
    tokens = {entry.call.seq: entry.call.receipt for entry in timeline.entries if entry.call.receipt}
    keys = receipt_keys(request.workspace.pk)
    receipts = show_receipts(workspace_id=request.workspace.pk, task_id=row.pk, tokens=tokens, keys=keys)
    entries = [(entry, receipts.get(entry.call.seq)) for entry in timeline.entries]
    context = {"title": Truncator(row.goal).chars(110) or row.external_id, "task": row, "timeline": timeline}
    context |= {"entries": entries, "judge_form": JudgeForm() if may(request.actor, "judge_task") else None}
    context |= {"paths": paths_of_task(row)}
    return render(request, "tasks/detail.html", context)
