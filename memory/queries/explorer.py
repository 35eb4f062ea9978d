"""The graph of a workspace: its newest paths laid over each other. What it costs has a bound."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.db.models import Q, QuerySet

from memory.domain.graphs.graph import (
    DRAWN_NODES,
    Graph,
    GraphEdge,
    GraphNode,
    neighbourhood,
    summarise,
)
from memory.domain.paths.overlay import Overlay, Step, keep_nodes, lay_over
from memory.models import Node, Path, PathEdge, PathNode, Workspace
from memory.queries.tasks import tagged

MAX_PATHS = 2_000
"""Up to so many paths are laid over each other,"""
MAX_STEPS = 20_000
"""with up to so many steps together."""
WINDOW = 20_000
"""So many of the newest paths are looked through for a filter without an index."""
MATCHED_NODES = 2_000
"""Of the nodes with a tool or text, so many of the newest count."""
NEAR_PATHS = 300
"""So many of the newest paths through the nodes of one ring around the focus are followed."""
MAX_DEPTH = 3


@dataclass(frozen=True)
class ExplorerFilters:
    """What is drawn. Empty means everything that is active; templates only where they are asked for."""

    tool: str = ""
    kind: str = ""
    result: str = ""
    tag: str = ""
    agent: str = ""
    text: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class DrawnNode:
    """A node of the drawing: one node, or (``node`` None) the ``node_count`` further ones of a tool."""

    id: str
    label: str
    kind: str
    tool: str
    path_count: int
    node: Node | None = None
    node_count: int = 1
    is_match: bool = False


@dataclass(frozen=True)
class Transition:
    """From one drawn node to another, and how often it was walked."""

    source: DrawnNode
    target: DrawnNode
    count: int


@dataclass(frozen=True)
class Explored:
    """The graph and what was left out.

    ``paths`` and ``steps`` were read, ``more_paths`` says that not all were. Of ``node_count`` nodes
    ``summarised`` are drawn only as a part of a group, ``left_out`` not at all.
    """

    nodes: list[DrawnNode]
    transitions: list[Transition]
    graph: Graph
    paths: int
    steps: int
    node_count: int
    more_paths: bool = False
    summarised: int = 0
    left_out: int = 0


@dataclass
class _Read:
    """Steps and edges of some paths, and what their nodes are."""

    steps: list[Step] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    facts: dict[int, tuple[str, str]] = field(default_factory=dict)

    def add(self, path_ids: Iterable[int]) -> None:
        """Read these paths. Two queries."""
        ids = list(path_ids)
        rows = PathNode.objects.filter(path__in=ids).order_by("path_id", "position")
        columns = ("pk", "path_id", "node_id", "node__merged_into", "node__kind", "node__tool")
        for pk, path, node, final, kind, tool in rows.values_list(*columns):
            self.steps.append(Step(pk, path, final or node))
            if final is None or final not in self.facts:
                self.facts[final or node] = (kind, tool)
        edges = PathEdge.objects.filter(path__in=ids).order_by("path_id", "position")
        self.edges += edges.values_list("source_id", "target_id")


def explore(workspace: Workspace, filters: ExplorerFilters, *, most: int = DRAWN_NODES) -> Explored:
    """The newest paths that pass the filters, laid over each other. A flat number of queries."""
    matches = _matching_nodes(workspace, filters)
    paths, more = _newest_within(_path_rows(workspace, filters, matches))
    read = _Read()
    read.add(paths)
    overlay = lay_over(read.steps, read.edges)
    if filters.kind:
        overlay = keep_nodes(overlay, [node for node in overlay.paths if read.facts[node][0] == filters.kind])
    return _drawn(_graph_of(overlay, read), read, matches or set(), more, most)


def explore_around(workspace: Workspace, focus: Node, depth: int, *, most: int = DRAWN_NODES) -> Explored:
    """What is within ``depth`` transitions of a node, along the newest paths through each ring around it."""
    centre = focus.merged_into_id or focus.pk
    read, loaded, ring, more = _Read(), set[int](), {centre}, False
    graph = Graph((GraphNode(str(centre), kind=focus.kind, group=focus.tool),))
    read.facts[centre] = (focus.kind, focus.tool)
    for distance in range(1, min(max(depth, 1), MAX_DEPTH) + 1):
        paths, is_cut = _paths_through(ring, NEAR_PATHS)
        more = more or is_cut
        fresh = [path for path in paths if path not in loaded]
        loaded.update(fresh)
        read.add(fresh)
        whole = _graph_of(lay_over(read.steps, read.edges), read)
        graph = neighbourhood(whole, [str(centre)], depth=distance, limit=most) if whole.nodes else graph
        ring = {int(node.id) for node in graph.nodes} - {centre}
        if not ring or len(read.steps) > MAX_STEPS:
            break
    return _drawn(graph, read, {centre}, more, most)


def _graph_of(overlay: Overlay, read: _Read) -> Graph:
    """The overlay as a graph whose ids are those of the nodes."""
    nodes = (
        GraphNode(str(node), kind=read.facts[node][0], group=read.facts[node][1], weight=len(paths))
        for node, paths in overlay.paths.items()
    )
    edges = (GraphEdge(str(one), str(other), n) for (one, other), n in overlay.transitions.items())
    return Graph(tuple(nodes), tuple(edges))


def _matching_nodes(workspace: Workspace, filters: ExplorerFilters) -> set[int] | None:
    """The newest nodes with the tool and the text, as they are drawn; None where neither is asked for."""
    rows = Node.objects.filter(workspace=workspace).order_by("-pk")
    if filters.tool:
        rows = rows.filter(tool=filters.tool)
    if filters.text:
        floor = next(iter(rows.values_list("pk", flat=True)[WINDOW : WINDOW + 1]), 0)
        rows = rows.filter(pk__gte=floor)
        rows = rows.filter(Q(content__icontains=filters.text) | Q(tool__icontains=filters.text))
    if not (filters.tool or filters.text):
        return None
    found = rows.values_list("pk", "merged_into")[:MATCHED_NODES]
    return {final or pk for pk, final in found}


def _path_rows(workspace: Workspace, filters: ExplorerFilters, matches: set[int] | None) -> QuerySet[Path]:
    """The whole, active paths that pass; what has no index is looked for among the newest ``WINDOW``."""
    rows: QuerySet[Path] = Path.objects.filter(workspace=workspace).active().whole()
    if filters.since:
        rows = rows.filter(created_at__gte=filters.since)
    if filters.until:
        rows = rows.filter(created_at__lt=filters.until)
    rows = rows.filter(result=filters.result) if filters.result else rows.exclude(result="template")
    if filters.agent or filters.tag or filters.since or filters.until:
        newest = Path.objects.filter(workspace=workspace).order_by("-pk").values_list("pk", flat=True)
        rows = rows.filter(pk__gte=next(iter(newest[WINDOW : WINDOW + 1]), 0))
    if filters.agent:
        rows = rows.filter(agent=filters.agent)
    if filters.tag:
        rows = tagged(rows, filters.tag)
    if matches is not None:
        rows = rows.filter(pk__in=_paths_through(matches, WINDOW)[0])
    return rows


def _newest_within(rows: QuerySet[Path]) -> tuple[list[int], bool]:
    """The newest paths that fit the bounds, and whether there are more."""
    found = list(rows.order_by("-pk").values_list("pk", "node_count")[: MAX_PATHS + 1])
    total, chosen = 0, list[int]()
    for pk, count in found[:MAX_PATHS]:
        total += count
        if total > MAX_STEPS and chosen:
            break
        chosen.append(pk)
    return chosen, len(chosen) < len(found)


def _paths_through(nodes: set[int], most: int) -> tuple[list[int], bool]:
    """The newest active whole paths with a step at one of the drawn nodes, and whether there are more."""
    same = Node.objects.filter(Q(pk__in=nodes) | Q(merged_into__in=nodes)).values_list("pk", flat=True)
    steps = PathNode.objects.filter(node__in=list(same), path__status="active", path__container=None)
    ids = steps.order_by("-path_id").values_list("path_id", flat=True).distinct()
    found = list(ids[: most + 1])
    return found[:most], len(found) > most


def node_label(node: Node) -> str:
    """What a node is called where there is little room: its sentence, or its tool with what it was given."""
    if node.content and node.content != node.tool:
        return node.content[:200]
    given = (str(value) for value in node.params.values() if isinstance(value, str | int | float))
    return " · ".join([node.tool or node.key, *given])[:200]


def _drawn(graph: Graph, read: _Read, marked: set[int], more: bool, most: int) -> Explored:
    """The graph, summarised where it is too large, with the rows of the nodes that are drawn singly."""
    summary = summarise(graph, limit=most)
    rows = Node.objects.in_bulk([int(node.id) for node in summary.graph.nodes if node.id.isdigit()])
    drawn = {}
    for one in sorted(summary.graph.nodes, key=lambda node: (-node.weight, node.id)):
        row = rows.get(int(one.id)) if one.id.isdigit() else None
        label = node_label(row) if row else one.label
        drawn[one.id] = DrawnNode(
            one.id, label, one.kind, one.group, int(one.weight), row, one.stands_for,
            is_match=row is not None and row.pk in marked,
        )  # fmt: skip
    edges = sorted(summary.graph.edges, key=lambda edge: (-edge.weight, edge.source, edge.target))
    transitions = [Transition(drawn[edge.source], drawn[edge.target], int(edge.weight)) for edge in edges]
    labelled = [replace(node, label=drawn[node.id].label) for node in summary.graph.nodes]
    return Explored(
        list(drawn.values()), transitions, replace(summary.graph, nodes=tuple(labelled)),
        paths=len({step.path for step in read.steps}), steps=len(read.steps), node_count=len(graph.nodes),
        more_paths=more, summarised=summary.summarised, left_out=graph.left_out,
    )  # fmt: skip
