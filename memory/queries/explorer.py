"""The graph of a workspace: its newest paths laid over each other. What it costs has a bound."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Q, QuerySet

from memory.domain.paths.overlay import Overlay, Step, group_nodes, keep_nodes, lay_over, neighbours
from memory.models import Node, Path, PathEdge, PathNode, Workspace
from memory.queries.tasks import tagged

MAX_PATHS = 2_000
"""Up to so many paths are laid over each other,"""
MAX_STEPS = 20_000
"""with up to so many steps together."""
MAX_DRAWN = 1_000
"""Up to so many nodes are drawn one by one; more are drawn as one node for each tool and kind."""
WINDOW = 20_000
"""So many of the newest paths are looked through for a filter without an index."""
MATCHED_NODES = 2_000
"""Of the nodes with a tool or text, so many of the newest count."""
NEAR_PATHS = 300
"""So many of the newest paths through the nodes of one ring around the focus are followed."""
MAX_DEPTH = 3


@dataclass(frozen=True)
class ExplorerFilters:
    """What is drawn. Empty means everything that is active."""

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
    """A node of the drawing: one node, or all nodes of a tool and kind (then ``node`` is None)."""

    key: str
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
    """The graph with what was left out: ``paths`` and ``steps`` were read, ``more_paths`` were not."""

    nodes: list[DrawnNode]
    transitions: list[Transition]
    paths: int = 0
    steps: int = 0
    node_count: int = 0
    more_paths: bool = False
    grouped: bool = False
    distances: dict[str, int] = field(default_factory=dict)


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


def explore(workspace: Workspace, filters: ExplorerFilters, *, most: int = MAX_DRAWN) -> Explored:
    """The newest paths that pass the filters, laid over each other. A flat number of queries."""
    matches = _matching_nodes(workspace, filters)
    paths, more = _newest_within(_path_rows(workspace, filters, matches))
    read = _Read()
    read.add(paths)
    overlay = lay_over(read.steps, read.edges)
    if filters.kind:
        overlay = keep_nodes(overlay, [n for n in overlay.paths if read.facts[n][0] == filters.kind])
    marked = set(matches or ())
    drawn = _draw(overlay, read, marked, most)
    return Explored(
        *drawn, paths=len(paths), steps=len(read.steps), node_count=len(overlay.paths), more_paths=more,
        grouped=len(overlay.paths) > most,
    )  # fmt: skip


def explore_around(workspace: Workspace, focus: Node, depth: int, *, most: int = MAX_DRAWN) -> Explored:
    """What is within ``depth`` transitions of a node, along the newest paths through each ring."""
    centre = focus.merged_into_id or focus.pk
    read, loaded, ring, more = _Read(), set[int](), {centre}, False
    overlay, near = lay_over([], []), {centre: 0}
    for ring_number in range(min(max(depth, 1), MAX_DEPTH)):
        paths, is_cut = _paths_through(workspace, ring, NEAR_PATHS)
        fresh = [path for path in paths if path not in loaded]
        loaded.update(fresh)
        read.add(fresh)
        overlay = lay_over(read.steps, read.edges)
        near = neighbours(overlay, centre, ring_number + 1)
        more = more or is_cut
        ring = {node for node, distance in near.items() if distance == ring_number + 1}
        if not ring or len(read.steps) > MAX_STEPS:
            break
    kept = sorted(near, key=lambda node: (near[node], node))[:most]
    nodes, transitions = _draw(keep_nodes(overlay, kept), read, {centre}, most)
    distances = {one.key: near[one.node.pk] for one in nodes if one.node is not None}
    return Explored(
        nodes, transitions, paths=len(loaded), steps=len(read.steps), node_count=len(near),
        more_paths=more or len(kept) < len(near), distances=distances,
    )  # fmt: skip


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
    if filters.result:
        rows = rows.filter(result=filters.result)
    if filters.agent or filters.tag or filters.since or filters.until:
        newest = Path.objects.filter(workspace=workspace).order_by("-pk").values_list("pk", flat=True)
        rows = rows.filter(pk__gte=next(iter(newest[WINDOW : WINDOW + 1]), 0))
    if filters.agent:
        rows = rows.filter(agent=filters.agent)
    if filters.tag:
        rows = tagged(rows, filters.tag)
    if matches is not None:
        rows = rows.filter(pk__in=_paths_through(workspace, matches, WINDOW)[0])
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


def _paths_through(workspace: Workspace, nodes: set[int], most: int) -> tuple[list[int], bool]:
    """The newest active whole paths with a step at one of the drawn nodes, and whether there are more."""
    same = Node.objects.filter(Q(pk__in=nodes) | Q(merged_into__in=nodes)).values_list("pk", flat=True)
    steps = PathNode.objects.filter(node__in=list(same), path__status="active", path__container=None)
    ids = steps.order_by("-path_id").values_list("path_id", flat=True).distinct()
    found = list(ids[: most + 1])
    return found[:most], len(found) > most


def _draw(
    overlay: Overlay, read: _Read, marked: set[int], most: int
) -> tuple[list[DrawnNode], list[Transition]]:
    """The overlay with its rows: node by node, or by tool and kind when there are too many."""
    if len(overlay.paths) > most:
        return _draw_groups(overlay, read, marked, most)
    nodes = Node.objects.in_bulk(list(overlay.paths))
    drawn = {
        pk: DrawnNode(
            str(nodes[pk].uuid), nodes[pk].kind, nodes[pk].tool, len(overlay.paths[pk]), nodes[pk],
            is_match=pk in marked,
        )
        for pk in overlay.ranked()
        if pk in nodes
    }  # fmt: skip
    return list(drawn.values()), _transitions(overlay, drawn)


def _draw_groups(
    overlay: Overlay, read: _Read, marked: set[int], most: int
) -> tuple[list[DrawnNode], list[Transition]]:
    """One node for each tool and kind; each group is named by the first of its nodes."""
    names: dict[tuple[str, str], int] = {}
    group_of = {node: names.setdefault(read.facts[node], node) for node in sorted(overlay.paths)}
    sizes = Counter(group_of.values())
    hits = {group_of[node] for node in marked if node in group_of}
    grouped = group_nodes(overlay, group_of)
    grouped = keep_nodes(grouped, grouped.ranked()[:most])
    drawn = {
        group: DrawnNode(
            "-".join(read.facts[group]), *read.facts[group], len(grouped.paths[group]),
            node_count=sizes[group], is_match=group in hits,
        )
        for group in grouped.ranked()
    }  # fmt: skip
    return list(drawn.values()), _transitions(grouped, drawn)


def _transitions(overlay: Overlay, drawn: dict[int, DrawnNode]) -> list[Transition]:
    return [
        Transition(drawn[source], drawn[target], count)
        for (source, target), count in overlay.busiest()
        if source in drawn and target in drawn
    ]
