"""The graph explorer: the whole workspace as one graph, a node with what is around it, finding a node."""

from typing import Any
from uuid import UUID

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from memory.domain.access import may
from memory.domain.graphs.pictures import picture_of_graph
from memory.queries.explorer import Explored, explore, explore_around
from memory.queries.nodes import NodeFilters, find_node, list_nodes, node_card
from memory.queries.tools import list_tool_names
from memory.web.access import PageRequest, workspace_page
from memory.web.drawing import draw
from memory.web.graph_filters import ExplorerForm, FocusForm

LISTED = 50
TRANSITIONS = 30
FOUND = 20


@require_GET
@workspace_page("look")
def graph(request: PageRequest) -> HttpResponse:
    """Every path laid over the others; with ``?focus=`` what is around a node."""
    asked, form = FocusForm(request.GET), ExplorerForm(request.GET)
    context = shown(request, form, asked.value("focus"), asked.value("depth") or 1)
    context |= drawn(request, context["explored"]) | found(request, asked.value("find"))
    context |= {"title": _("Graph explorer"), "form": form, "asked": asked}
    context |= {"may_merge": may(request.actor, "merge_nodes"), "tools": list_tool_names(request.workspace)}
    return render(request, "explorer/explorer.html", context)


def shown(request: PageRequest, form: ExplorerForm, focus: UUID | None, depth: int) -> dict[str, Any]:
    """The graph: around a node, or all that passes the filters."""
    found = {"card": None, "depth": depth, "is_filtered": bool(request.GET)}
    if focus:
        return found | around(request, focus, depth)
    return found | {"explored": explore(request.workspace, form.filters())}


def around(request: PageRequest, uuid: UUID, depth: int) -> dict[str, Any]:
    """The node in the middle, what is known about it, and its neighbourhood. 404 for an unknown one."""
    node = find_node(request.workspace.pk, uuid)
    if node is None:
        raise Http404("There is no such node.")
    card = node_card(node)
    return {"card": card, "explored": explore_around(request.workspace, card.node, depth)}


def drawn(request: PageRequest, explored: Explored) -> dict[str, Any]:
    """The drawing and the first rows of the same facts as lists."""
    links = {one.id: node_url(request, one.node.uuid) for one in explored.nodes if one.node is not None}
    drawing = draw(picture_of_graph(explored.graph), name="explorer", title=_("Graph"), links=links)
    return {
        "drawing": drawing if explored.nodes else None,
        "listed": Paginator(explored.nodes, LISTED).get_page(request.GET.get("page")),
        "transitions": explored.transitions[:TRANSITIONS],
    }


def found(request: PageRequest, text: str | None) -> dict[str, Any]:
    """The nodes that contain a text, newest first."""
    if not text:
        return {"found": None}
    return {"found": list_nodes(request.workspace.pk, NodeFilters(text=text), "", size=FOUND)}


def node_url(request: PageRequest, uuid: UUID) -> str:
    """The explorer with this node in the middle."""
    return f"{reverse('graph', args=[request.workspace.slug])}?focus={uuid}"
