"""Paths: the list, one path, two versions side by side, exports."""

import json
from collections.abc import Callable
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from memory.domain.graphs.exporting import as_dot, as_graphml
from memory.domain.paths.checking import write_path_document
from memory.domain.paths.document import PathDoc
from memory.models import Path
from memory.permissions import may
from memory.queries.path_documents import read_path, read_paths
from memory.queries.paths import list_comparable, list_path_agents, list_paths, list_versions
from memory.web.access import PageRequest, workspace_page
from memory.web.path_comparing import compare_paths
from memory.web.path_detail import detail_context
from memory.web.path_filters import PathFilterForm
from memory.web.path_finding import find_path, other_path


def _as_json(doc: PathDoc) -> str:
    return json.dumps(write_path_document(doc), indent=2, ensure_ascii=False, default=str)


EXPORTS: dict[str, tuple[str, Callable[[PathDoc], str]]] = {
    "json": ("application/json", _as_json),
    "graphml": ("application/graphml+xml", as_graphml),
    "dot": ("text/vnd.graphviz", as_dot),
}


@require_GET
@workspace_page("look")
def paths(request: PageRequest) -> HttpResponse:
    """What agents can follow, newest first."""
    form = PathFilterForm(request.GET)
    page = list_paths(request.workspace, form.filters(), request.GET.get("cursor", ""))
    context = {"title": _("Paths"), "form": form, "page": page, "is_filtered": form.is_filtered}
    context |= {"may_write": may(request.actor, "write_path"), "agents": list_path_agents(request.workspace)}
    return render(request, "paths/list.html", context)


@require_GET
@workspace_page("look")
def path(request: PageRequest, uuid: UUID) -> HttpResponse:
    """What a path does, drawn and as a list, and what became of it."""
    row = find_path(request, uuid)
    title = Truncator(row.goal).chars(110) or row.key
    return render(request, "paths/detail.html", {"title": title} | detail_context(request, row))


@require_GET
@workspace_page("look")
def path_compare(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Two paths side by side: this one, and the one that ``?with=`` names (by itself: its parent)."""
    row = find_path(request, uuid)
    other = other_path(request, request.GET.get("with", "")) or row.parent or row
    old, new = (other, row) if (other.pk or 0) < (row.pk or 0) else (row, other)
    documents = read_paths([old, new])
    titles = _titles(old, new)
    context = {"title": _("Compare versions"), "path": row, "old": old, "new": new}
    context |= {"compared": compare_paths(documents[0], documents[1], **titles)}
    context |= {"versions": list_versions(row.lineage), "other": other, "others": list_comparable(row)}
    return render(request, "paths/compare.html", context)


def _titles(old: Path, new: Path) -> dict[str, str]:
    """What the two are called: versions of one path by number, different paths by key."""
    if old.lineage_id != new.lineage_id:
        return {"old_title": old.key, "new_title": new.key}
    said = _("Version %(number)s")
    return {"old_title": said % {"number": old.version}, "new_title": said % {"number": new.version}}


@require_GET
@workspace_page("look")
def path_export(request: PageRequest, uuid: UUID) -> HttpResponse:
    """The path as a file: ``?format=`` json, graphml or dot."""
    row, wanted = find_path(request, uuid), request.GET.get("format", "json")
    if wanted not in EXPORTS:
        raise Http404(_("There is no such format."))
    content_type, write = EXPORTS[wanted]
    answer = HttpResponse(write(read_path(row)), content_type=f"{content_type}; charset=utf-8")
    answer.headers["Content-Disposition"] = f'attachment; filename="path-{row.uuid}.{wanted}"'
    return answer
