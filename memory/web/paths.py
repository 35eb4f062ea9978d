"""Paths: one path with its drawing and everything that is known about it."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.text import Truncator
from django.views.decorators.http import require_GET

from memory.models import Path
from memory.queries.paging import read_number
from memory.queries.path_documents import read_path
from memory.web.access import PageRequest, workspace_page
from memory.web.path_drawings import draw_path, kind_words
from memory.web.path_steps import step_rows, stretch_from


@require_GET
@workspace_page("look")
def path(request: PageRequest, uuid: UUID) -> HttpResponse:
    """What a path does, drawn and as a list, and what became of it."""
    row = get_object_or_404(Path, workspace=request.workspace, uuid=uuid)
    doc = read_path(row)
    stretch = stretch_from(read_number(request.GET.get("from", "")), len(doc.nodes))
    context = {
        "title": Truncator(doc.goal).chars(110) or row.key,
        "path": row,
        "doc": doc,
        "drawing": draw_path(doc),
        "steps": step_rows(doc, words=kind_words(), shown=stretch.positions),
        "stretch": stretch,
    }
    return render(request, "paths/detail.html", context)
