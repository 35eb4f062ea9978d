"""Bring recorded runs in: hand in a file, look at the plan, apply it, watch it."""

from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from memory.actions import imports as actions
from memory.domain.importers import FORMATS
from memory.models import ImportJob
from memory.queries.imports import import_progress, list_imports
from memory.web.access import workspace_page

SHOWN = 50
TITLES = {
    "runs": gettext_lazy("Runs (JSONL, one run a line)"),
    "chat": gettext_lazy("Chat transcripts with tool calls"),
    "claude_code": gettext_lazy("Claude Code transcripts"),
    "langfuse": gettext_lazy("Langfuse observations"),
    "otlp": gettext_lazy("OpenTelemetry spans (OTLP JSON)"),
}


class UploadForm(forms.Form):
    """A file and, if it cannot be told, its format."""

    file = forms.FileField(
        label=gettext_lazy("File"),
        help_text=gettext_lazy("JSON, JSON lines or CSV, as they are or packed with gzip."),
    )
    format = forms.ChoiceField(
        label=gettext_lazy("Format"),
        required=False,
        choices=[("", gettext_lazy("Tell it from the file")), *((name, TITLES[name]) for name in FORMATS)],
    )


@require_http_methods(["GET", "POST"])
@workspace_page("import_runs")
def imports(request: HttpRequest) -> HttpResponse:
    """The imports so far and the form for another; POST plans one."""
    form = UploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        file, chosen = form.cleaned_data["file"], form.cleaned_data["format"] or None
        try:
            job = actions.plan_import(
                workspace=request.workspace,
                file=file,
                file_name=file.name,
                format_name=chosen,
                by=request.actor,
            )
            return redirect("import", request.workspace.slug, job.uuid)
        except (actions.ImportRefused, actions.UploadTooLarge) as refusal:
            form.add_error("file", str(refusal))
    context = {"title": _("Imports"), "form": form, "jobs": list_imports(request.workspace.pk)[:SHOWN]}
    return render(request, "imports/list.html", context, status=422 if form.errors else 200)


@require_GET
@workspace_page("import_runs")
def import_job(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """One import: its plan, then its progress. htmx asks for the progress alone."""
    job = get_object_or_404(ImportJob, workspace=request.workspace, uuid=uuid)
    context = {"title": job.file_name, "job": job, "progress": import_progress(job)}
    if not request.htmx:
        return render(request, "imports/detail.html", context)
    answer = render(request, "imports/progress.html", context)
    if job.status != "running":
        answer.headers["HX-Refresh"] = "true"  # the buttons change too
    return answer


@require_POST
@workspace_page("import_runs")
def apply_import(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Let the worker import it."""
    job = get_object_or_404(ImportJob, workspace=request.workspace, uuid=uuid)
    try:
        actions.apply_import(job=job, by=request.actor)
    except actions.ImportRefused as refusal:
        messages.error(request, str(refusal))
    return redirect("import", request.workspace.slug, uuid)


@require_POST
@workspace_page("import_runs")
def cancel_import(request: HttpRequest, uuid: UUID) -> HttpResponse:
    """Stop it; what is recorded stays."""
    job = get_object_or_404(ImportJob, workspace=request.workspace, uuid=uuid)
    try:
        actions.cancel_import(job=job, by=request.actor)
        messages.success(request, _("Cancelled. What was recorded before stays."))
    except actions.ImportRefused as refusal:
        messages.error(request, str(refusal))
    return redirect("import", request.workspace.slug, uuid)
