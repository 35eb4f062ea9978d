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
from memory.queries.json_lists import holding
from memory.queries.paging import WINDOW, id_after

MAX_PATHS = 2_000
"""Up to so many paths are laid over each other,"""
MAX_STEPS = 20_000
"""with up to so many steps together."""
MATCHED_NODES = 2_000
"""Of the nodes with a tool or text, so many of the newest count."""
NEAR_PATHS = 300
"""So many of the newest paths through the focus are read."""
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
    """The newest paths that pass the filters, laid over each other. The number of queries does not grow."""
    paths, more = _newest_within(_path_rows(workspace, filters))
    if filters.text:
        paths = _saying(workspace, filters, paths)
    read = _Read()
    read.add(paths)
    overlay = lay_over(read.steps, read.edges)
    if filters.kind:
        overlay = keep_nodes(overlay, [node for node in overlay.paths if read.facts[node][0] == filters.kind])
    return _drawn(_graph_of(overlay, read), read, _marked(read, filters), more, most)


def explore_around(workspace: Workspace, focus: Node, depth: int, *, most: int = DRAWN_NODES) -> Explored:
    """What is within ``depth`` transitions of a node.

    The first ring comes from the newest paths through the node; the next ones also from the newest paths of
    the workspace, so that the cost does not depend on how many paths a busy neighbour is in.
    """
    centre = focus.merged_into_id or focus.pk
    same = [centre, *Node.objects.filter(merged_into=centre).values_list("pk", flat=True)]
    paths, more = _through(same, NEAR_PATHS)
    read = _Read()
    read.facts[centre] = (focus.kind, focus.tool)
    read.add(paths)
    depth = min(max(depth, 1), MAX_DEPTH)
    if depth > 1 and len(read.steps) < MAX_STEPS:
        newest, is_cut = _newest_within(_path_rows(workspace, ExplorerFilters()), MAX_STEPS // 2)
        read.add(sorted(set(newest).difference(paths)))
        more = more or is_cut
    graph = _graph_of(lay_over(read.steps, read.edges), read)
    if not any(node.id == str(centre) for node in graph.nodes):
        graph = Graph((GraphNode(str(centre), kind=focus.kind, group=focus.tool),))
    near = neighbourhood(graph, [str(centre)], depth=depth, limit=most)
    return _drawn(near, read, {centre}, more, most)


def _graph_of(overlay: Overlay, read: _Read) -> Graph:
    """The overlay as a graph whose ids are those of the nodes."""
    nodes = (
        GraphNode(str(node), kind=read.facts[node][0], group=read.facts[node][1], weight=len(paths))
        for node, paths in overlay.paths.items()
    )
    edges = (GraphEdge(str(one), str(other), n) for (one, other), n in overlay.transitions.items())
    return Graph(tuple(nodes), tuple(edges))


def _path_rows(workspace: Workspace, filters: ExplorerFilters) -> QuerySet[Path]:
    """The whole, active paths that pass; what has no index is looked for among the newest ``WINDOW``."""
    rows: QuerySet[Path] = Path.objects.active().whole().filter(workspace=workspace)
    rows = rows.filter(result=filters.result) if filters.result else rows.exclude(result="template")
    if filters.agent or filters.tag or filters.tool or filters.since or filters.until:
        rows = rows.filter(pk__gte=id_after(Path.objects.filter(workspace=workspace), WINDOW))
    if filters.since:
        rows = rows.filter(created_at__gte=filters.since)
    if filters.until:
        rows = rows.filter(created_at__lt=filters.until)
    if filters.agent:
        rows = rows.filter(agent=filters.agent)
    for name, word in (("tags", filters.tag), ("tools", filters.tool)):
        rows = holding(rows, name, word) if word else rows
    return rows


def _saying(workspace: Workspace, filters: ExplorerFilters, paths: list[int]) -> list[int]:
    """Of these paths, those with a node that contains the text.

    Where there is none: the newest ones through the newest nodes that contain it.
    """
    text = Q(node__content__icontains=filters.text) | Q(node__tool__icontains=filters.text)
    found = set(PathNode.objects.filter(text, path__in=paths).values_list("path", flat=True))
    if found:
        return [path for path in paths if path in found]
    nodes = Node.objects.filter(workspace=workspace)
    nodes = nodes.filter(Q(content__icontains=filters.text) | Q(tool__icontains=filters.text))
    newest = nodes.filter(pk__gte=id_after(Node.objects.filter(workspace=workspace), WINDOW)).order_by("-pk")
    older, _more = _through(list(newest.values_list("pk", flat=True)[:MATCHED_NODES]), MAX_PATHS)
    return _newest_within(_path_rows(workspace, filters).filter(pk__in=older))[0]


def _marked(read: _Read, filters: ExplorerFilters) -> set[int]:
    """The drawn nodes with the tool and the text that are asked for."""
    drawn = [pk for pk, (_kind, tool) in read.facts.items() if not filters.tool or tool == filters.tool]
    if not filters.text:
        return set(drawn) if filters.tool else set()
    text = Q(content__icontains=filters.text) | Q(tool__icontains=filters.text)
    ids = {step.path for step in read.steps}
    saying = Node.objects.filter(text, places__path__in=ids).values_list("pk", "merged_into").distinct()
    return {final or pk for pk, final in saying}.intersection(drawn)


def _newest_within(rows: QuerySet[Path], most_steps: int = 0) -> tuple[list[int], bool]:
    """The newest paths that fit the bounds, and whether there are more."""
    found = list(rows.order_by("-pk").values_list("pk", "node_count")[: MAX_PATHS + 1])
    total, chosen = 0, list[int]()
    for pk, count in found[:MAX_PATHS]:
        total += count
        if total > (most_steps or MAX_STEPS) and chosen:
            break
        chosen.append(pk)
    return chosen, len(chosen) < len(found)


def _through(nodes: list[int], most: int) -> tuple[list[int], bool]:
    """The newest active whole paths with a step at one of the nodes, and whether there are more."""
    steps = PathNode.objects.filter(node__in=nodes, path__status="active", path__span_start=None)
    found = list(steps.order_by("-path_id").values_list("path_id", flat=True).distinct()[: most + 1])
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
