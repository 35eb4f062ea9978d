"""Write a path by hand, correct one (a new version), bring paths in from JSON."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from memory.actions.path_imports import import_paths, plan_path_import
from memory.actions.paths import InvalidPathError, StaleVersionError, correct_path, write_path
from memory.domain.paths.checking import write_path_document
from memory.models import Path
from memory.queries.paging import read_number
from memory.queries.path_documents import read_path
from memory.web.access import PageRequest, workspace_page
from memory.web.path_comparing import compare_paths
from memory.web.path_drawings import draw_path
from memory.web.path_editor import Editor, editor_from, editor_of, switch_mode
from memory.web.path_finding import find_path
from memory.web.path_forms import PathImportForm


@require_http_methods(["GET", "HEAD", "POST"])
@workspace_page("write_path")
def path_new(request: PageRequest) -> HttpResponse:
    """A new path, as rows of steps or as JSON."""
    return _edit(request, None)


@require_http_methods(["GET", "HEAD", "POST"])
@workspace_page("write_path")
def path_correct(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Correct a path: what is saved is its next version."""
    return _edit(request, find_path(request, uuid))


def _edit(request: PageRequest, row: Path | None) -> HttpResponse:
    """The editor: one form, told apart by its button (``do``)."""
    base = read_path(row) if row else None
    do = request.POST.get("do", "") if request.method == "POST" else ""
    editor = editor_from(request.POST) if do else editor_of(base)
    saved = _pressed(request, editor, do, row)
    if isinstance(saved, Path):
        messages.success(request, _("Saved. Agents are served it from now on."))
        return redirect("path", request.workspace.slug, saved.uuid)
    editor = saved
    version = read_number(request.POST.get("base_version", "")) or (row.version if row else 0)
    context: dict[str, Any] = {"title": _("Correct the path") if row else _("Write a path"), "path": row}
    context |= {"editor": editor, "base_version": version, "preview": None, "compared": None}
    if editor.document and base:
        context["compared"] = compare_paths(base, editor.document)
    elif editor.document:
        context["preview"] = draw_path(editor.document, name="preview", title=_("Preview"))
    return render(request, "paths/edit.html", context, status=422 if do == "save" else 200)


def _pressed(request: PageRequest, editor: Editor, do: str, row: Path | None) -> Editor | Path:
    """The editor after the button, or the path that was saved."""
    if do in ("as-json", "as-form"):
        return switch_mode(editor, do.removeprefix("as-"))
    if do in ("check", "save"):
        editor.check()
    if do != "save" or editor.document is None:
        return editor
    return _save(request, editor, row) or editor


def _save(request: PageRequest, editor: Editor, row: Path | None) -> Path | None:
    """The stored path, or None with the reason among the faults."""
    document = write_path_document(editor.document) if editor.document else {}
    reason = request.POST.get("reason", "")[:2_000]
    try:
        if row is None:
            return write_path(workspace=request.workspace, document=document, by=request.actor)
        base = read_number(request.POST.get("base_version", "")) or 0
        return correct_path(path=row, document=document, base_version=base, by=request.actor, reason=reason)
    except (InvalidPathError, StaleVersionError, ValueError) as refusal:
        editor.faults.append(str(refusal))
    return None


@require_http_methods(["GET", "HEAD", "POST"])
@workspace_page("write_path")
def path_import(request: PageRequest) -> HttpResponse:
    """Bring in paths from JSON: first the plan, then the paths."""
    form = PathImportForm(request.POST or None, request.FILES or None)
    items, done = None, False
    if request.method == "POST" and form.is_valid():
        done = request.POST.get("do") == "apply"
        act = import_paths if done else plan_path_import
        try:
            items = act(workspace=request.workspace, documents=form.documents, by=request.actor)
        except InvalidPathError as refusal:
            form.add_error(None, str(refusal))
    statuses = {item.status for item in items or ()}
    context = {"title": _("Import paths"), "form": form, "items": items, "done": done, "text": form.text}
    context |= {"has_news": not statuses.isdisjoint(("new", "changed")), "is_known": statuses == {"same"}}
    return render(request, "paths/import.html", context, status=422 if form.errors else 200)
