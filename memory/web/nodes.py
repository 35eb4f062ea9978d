"""Nodes: saying that some are the same, taking it back, duplicates to look at."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from memory.actions.nodes import MAX_MERGED, MergeError, check_one_kind, merge_nodes, undo_merge
from memory.domain.access import may
from memory.models import Node, Workspace
from memory.queries.nodes import count_paths, differences_of, find_nodes, list_duplicates, node_rows
from memory.web.access import PageRequest, workspace_page
from memory.web.explorer import node_url
from memory.web.path_drawings import kind_words


class MergeForm(forms.Form):
    """Which of the chosen nodes is kept, and why."""

    keep = forms.UUIDField()
    reason = forms.CharField(label=gettext_lazy("Why"), required=False, max_length=2_000)


@require_http_methods(["GET", "POST"])
@workspace_page("merge_nodes")
def merge(request: PageRequest) -> HttpResponse:
    """GET shows the chosen nodes and asks which to keep; POST makes them one."""
    asked = request.POST if request.method == "POST" else request.GET
    nodes = chosen_nodes(request.workspace, asked)
    form = MergeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        answer = merged(request, nodes, **form.cleaned_data)
        if answer is not None:
            return answer
    refusal = why_not_merge(nodes)
    if refusal:
        messages.error(request, refusal)
        return redirect("graph", request.workspace.slug)
    counts = count_paths(node.pk for node in nodes)
    rows = sorted(((node, counts.get(node.pk, 0)) for node in nodes), key=lambda row: -row[1])
    context = {"title": _("Merge nodes"), "rows": rows, "form": form, "differences": differences_of(nodes)}
    return render(request, "explorer/merge.html", context)


def chosen_nodes(workspace: Workspace, asked: QueryDict) -> list[Node]:
    """The nodes whose uuids were sent; what is no uuid, unknown or foreign is left out."""
    uuids = []
    for text in asked.getlist("node")[: MAX_MERGED + 1]:
        try:
            uuids.append(UUID(text))
        except ValueError:
            continue
    return find_nodes(workspace.pk, uuids)


def why_not_merge(nodes: list[Node]) -> str:
    """Why these cannot be merged, empty when they can."""
    if len(nodes) < 2:
        return _("Choose at least two different nodes to merge.")
    try:
        check_one_kind(nodes)
    except MergeError:
        words = kind_words()
        kinds = ", ".join(dict.fromkeys(words.get(node.kind, node.kind) for node in nodes))
        return _("Only nodes of one kind can be merged; these are of the kinds %(kinds)s.") % {"kinds": kinds}
    return ""


def merged(request: PageRequest, nodes: list[Node], *, keep: UUID, reason: str) -> HttpResponse | None:
    """The page of the node that is kept, or None with the refusal among the messages."""
    kept = next((node for node in nodes if node.uuid == keep), None)
    try:
        if kept is None:
            raise MergeError(_("Choose the node to keep."))
        merge = merge_nodes(keep=kept, others=nodes, by=request.actor, reason=reason)
    except MergeError as refusal:
        messages.error(request, str(refusal))
        return None
    count = len(merge.moved)
    said = ngettext("%(n)d node is merged into this one.", "%(n)d nodes are merged into this one.", count)
    messages.success(request, said % {"n": count})
    return redirect(node_url(request, merge.keep.uuid))


@require_POST
@workspace_page("merge_nodes")
def unmerge(request: PageRequest, uuid: UUID) -> HttpResponse:
    """A merged node stands alone again."""
    node = get_object_or_404(node_rows(request.workspace.pk), uuid=uuid)
    head = node.merged_into or node
    if undo_merge(nodes=[node], by=request.actor):
        messages.success(request, _("The node stands alone again."))
    return redirect(node_url(request, head.uuid))


@require_GET
@workspace_page("look")
def duplicates(request: PageRequest) -> HttpResponse:
    """Groups of nodes that may be the same."""
    groups, compared = list_duplicates(request.workspace)
    counts = count_paths(node.pk for group in groups for node in group.nodes)
    context: dict[str, Any] = {
        "title": _("Possible duplicates"), "compared": compared,
        "groups": [(group, [(node, counts.get(node.pk, 0)) for node in group.nodes]) for group in groups],
        "may_merge": may(request.actor, "merge_nodes"),
    }  # fmt: skip
    return render(request, "explorer/duplicates.html", context)
