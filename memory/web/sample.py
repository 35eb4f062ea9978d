"""The weekly sample: answers to mark, figures from the marks, failures worth a rewrite."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from memory.actions.localizations import review_localization
from memory.actions.rewrites import request_rewrite
from memory.domain.locating.question import InvalidQuestionError
from memory.domain.locating.sampling import read_week, week_name, week_of
from memory.models import Localization, Path
from memory.permissions import may
from memory.queries.localizations import (
    NamedPath,
    failing_paths,
    named_paths,
    sample_page,
    week_figures,
)
from memory.queries.paging import read_number
from memory.web.access import PageRequest, workspace_page

STATUSES = ("open", "reviewed")
MAX_PAGES = 500


@dataclass(frozen=True)
class Answer:
    """One sampled answer with the paths it named."""

    row: Localization
    named: list[NamedPath]
    avoided: list[NamedPath]


@require_GET
@workspace_page("look")
def sample(request: PageRequest) -> HttpResponse:
    """The sample of a week, this one unless ``?week=2026-W48`` says another."""
    this_week = week_of(timezone.now())
    monday = min(read_week(request.GET.get("week", "")) or this_week, this_week)
    context = {"title": _("Weekly sample"), "monday": monday, "before": _shifted(monday, -1)}
    context |= {"after": _shifted(monday, 1) if monday < this_week else None}
    context |= {"figures": week_figures(request.workspace, monday)}
    context |= {"failing": failing_paths(request.workspace, monday)}
    context |= _answers(request, monday)
    context |= {"may_review": may(request.actor, "review_sample")}
    context |= {"may_ask": may(request.actor, "request_rewrite")}
    return render(request, "sample/sample.html", context)


def _answers(request: PageRequest, monday: date) -> dict[str, Any]:
    """The page of answers that was asked for."""
    status = request.GET.get("status", "")
    status = status if status in STATUSES else ""
    number = min(max(read_number(request.GET.get("page", "")) or 1, 1), MAX_PAGES)
    rows, more = sample_page(request.workspace, monday, status=status, number=number)
    named, avoided = named_paths(rows), named_paths(rows, "avoid")
    answers = [Answer(*item) for item in zip(rows, named, avoided, strict=True)]
    answered = {item.uuid for group in named for item in group}
    return {
        "answers": answers, "answered": answered, "status": status, "number": number,
        "next_number": number + 1 if more and number < MAX_PAGES else None,
    }  # fmt: skip


def _shifted(monday: date, weeks: int) -> date:
    try:
        return monday + timedelta(weeks=weeks)
    except OverflowError:
        return monday


@require_POST
@workspace_page("review_sample")
def review(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Whether an answer was right, and which paths are."""
    row = get_object_or_404(Localization, workspace=request.workspace, uuid=uuid)
    try:
        relevant = [UUID(text) for text in _marked(request)]
        review_localization(
            localization=row, verdict=request.POST.get("verdict", ""), relevant=relevant,
            note=request.POST.get("note", ""), by=request.actor,
        )  # fmt: skip
        messages.success(request, _("Your verdict is kept."))
    except InvalidQuestionError as refusal:
        messages.error(request, str(refusal))
    except ValueError:
        messages.error(request, _("A path is named by its uuid."))
    return redirect(_back(request, row))


@require_POST
@workspace_page("request_rewrite")
def ask_rewrite(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Ask for a rewrite of a path whose reuse failed; ``uuid`` is the path's."""
    path = get_object_or_404(Path, workspace=request.workspace, uuid=uuid)
    week = read_week(request.POST.get("week", "")) or week_of(timezone.now())
    try:
        reason = f"Tasks that followed it failed in week {week_name(week)}."
        request_rewrite(path=path, reason=reason, by=request.actor)
        messages.success(request, _("A rewrite is asked for. It waits in the queue when it is drafted."))
    except ValueError as refusal:
        messages.error(request, str(refusal))
    return redirect(f"{reverse('sample', args=[request.workspace.slug])}?week={week_name(week)}")


def _marked(request: PageRequest) -> list[str]:
    """The uuids that were ticked or typed."""
    return [*request.POST.getlist("relevant"), *request.POST.get("missed", "").replace(",", " ").split()]


def _back(request: PageRequest, row: Localization) -> str:
    """To the same list, at the answer that follows."""
    week, status = week_of(row.asked_at), request.POST.get("status", "")
    number = read_number(request.POST.get("page", "")) or 1
    rows, _more = sample_page(
        request.workspace, week, status=status if status in STATUSES else "", number=number
    )
    later = [item for item in rows if (item.asked_at, item.pk) < (row.asked_at, row.pk)]
    target = later[0] if later else row
    query = f"week={week_name(week)}&page={number}" + (f"&status={status}" if status in STATUSES else "")
    return f"{reverse('sample', args=[request.workspace.slug])}?{query}#answer-{target.uuid}"
