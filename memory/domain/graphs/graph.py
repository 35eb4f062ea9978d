"""A graph of many paths: its nodes and transitions, the neighbourhood of a node, and a summary of it."""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

DRAWN_NODES = 1000
"""More than this are summarised: no one reads them, and no browser stays quick."""
KEPT_SHARE = 0.6
"""Of the drawn nodes, how many are the busiest ones, drawn by themselves; the rest are groups."""
OTHERS = "…"


@dataclass(frozen=True)
class GraphNode:
    """A node of the graph. ``group`` is what it is summarised by (its tool); ``weight`` how often it occurs.

    ``stands_for`` is more than 1 for a summary of so many nodes.
    """

    id: str
    label: str = ""
    kind: str = "action"
    group: str = ""
    weight: float = 1.0
    stands_for: int = 1


@dataclass(frozen=True)
class GraphEdge:
    """A transition between two nodes by id, ``weight`` times."""

    source: str
    target: str
    weight: float = 1.0
    label: str = ""


@dataclass(frozen=True)
class Graph:
    """Nodes with unique ids, and transitions between them. ``left_out`` were not even looked at."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...] = ()
    left_out: int = 0


@dataclass(frozen=True)
class Summary:
    """A graph small enough to draw. ``groups`` maps the id of a summary to the ids of what it stands for."""

    graph: Graph
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def summarised(self) -> int:
        """How many nodes are shown only within a group."""
        return sum(len(members) for members in self.groups.values())


def summarise(graph: Graph, *, limit: int = DRAWN_NODES) -> Summary:
    """The graph itself up to ``limit`` nodes; beyond, its busiest nodes and one group for the rest of a tool.

    Transitions are added up; those inside a group disappear. Groups that would be too many are one.
    """
    if len(graph.nodes) <= limit:
        return Summary(graph)
    ranked = sorted(graph.nodes, key=lambda node: (-node.weight, node.id))
    kept, rest = ranked[: int(limit * KEPT_SHARE)], ranked[int(limit * KEPT_SHARE) :]
    groups = _grouped(rest, limit - len(kept))
    stands_in = {node.id: node.id for node in kept}
    summaries = []
    for name, members in groups.items():
        summary = GraphNode(
            f"group:{name}", name, "group", name, sum(one.weight for one in members), len(members)
        )
        summaries.append(summary)
        stands_in.update((one.id, summary.id) for one in members)
    edges = tuple(_added_up(graph.edges, stands_in))
    small = Graph((*kept, *summaries), edges, graph.left_out)
    return Summary(small, {f"group:{name}": tuple(one.id for one in found) for name, found in groups.items()})


def _grouped(rest: Sequence[GraphNode], room: int) -> dict[str, list[GraphNode]]:
    """By tool (or kind), the largest groups by themselves, what does not fit into the room as one."""
    groups: dict[str, list[GraphNode]] = defaultdict(list)
    for node in rest:
        groups[node.group or node.kind].append(node)
    names = sorted(groups, key=lambda name: (-len(groups[name]), name))
    fitting = {name: groups[name] for name in (names if len(names) <= room else names[: room - 1])}
    others = [node for name in names if name not in fitting for node in groups[name]]
    return fitting | ({OTHERS: others} if others else {})


def _added_up(edges: Iterable[GraphEdge], stands_in: dict[str, str]) -> list[GraphEdge]:
    """Edges between the stand-ins of their ends, once each; a real loop of one node stays."""
    weights: dict[tuple[str, str], float] = defaultdict(float)
    labels: dict[tuple[str, str], str] = {}
    for edge in edges:
        if edge.source not in stands_in or edge.target not in stands_in:
            continue
        ends = stands_in[edge.source], stands_in[edge.target]
        if ends[0] == ends[1] and edge.source != edge.target:
            continue
        weights[ends] += edge.weight
        labels[ends] = edge.label if labels.get(ends, edge.label) == edge.label else ""
    return [GraphEdge(*ends, weight=weight, label=labels[ends]) for ends, weight in weights.items()]


def neighbourhood(graph: Graph, focus: Iterable[str], *, depth: int = 1, limit: int = DRAWN_NODES) -> Graph:
    """What is at most ``depth`` transitions away from the focus, in either direction, nearest first.

    Stops at ``limit`` nodes; ``left_out`` counts those within the depth that did not fit. Unknown ids of the
    focus are ignored.
    """
    known = {node.id: node for node in graph.nodes}
    beside: dict[str, list[str]] = defaultdict(list)
    for edge in sorted(graph.edges, key=lambda edge: -edge.weight):
        beside[edge.source].append(edge.target)
        beside[edge.target].append(edge.source)
    distance = dict.fromkeys((name for name in focus if name in known), 0)
    queue = deque(distance)
    while queue:
        name = queue.popleft()
        for other in beside[name] if distance[name] < depth else ():
            if other in known and other not in distance:
                distance[other] = distance[name] + 1
                queue.append(other)
    chosen = dict.fromkeys(list(distance)[:limit])
    edges = tuple(edge for edge in graph.edges if edge.source in chosen and edge.target in chosen)
    nodes = tuple(known[name] for name in chosen)
    return replace(graph, nodes=nodes, edges=edges, left_out=len(distance) - len(nodes))
