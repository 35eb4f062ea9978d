"""Nodes of the workspace: the list, one node with what is known about it, duplicates to look at."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from memory.domain.paths.duplicates import Duplicates, NodeFacts, find_duplicates
from memory.models import Failure, Node, Path, PathNode, Workspace
from memory.queries.paging import Page, newest_first, newest_matching

MAX_COUNTED = 10_000
"""Paths through a node are counted so far; above, the page says "more than"."""
COMPARED = 10_000
"""How many of the newest nodes are compared for duplicates."""


@dataclass(frozen=True)
class NodeFilters:
    """What the list is narrowed to. Empty means everything; ``merged`` is "", ``yes`` or ``no``."""

    tool: str = ""
    kind: str = ""
    text: str = ""
    merged: str = ""


def node_rows(workspace_id: int) -> QuerySet[Node]:
    """Every node, with the one that is drawn for it."""
    return Node.objects.filter(workspace_id=workspace_id).select_related("merged_into")


def list_nodes(
    workspace_id: int, filters: NodeFilters, cursor: str, *, size: int = 50, window: int = 0
) -> Page[Node]:
    """Newest first. A filter without an index looks through ``window`` nodes and says where it stopped."""
    rows = node_rows(workspace_id)
    if filters.tool:
        rows = rows.filter(tool=filters.tool)
    if not (filters.text or filters.kind or filters.merged):
        return newest_first(rows, cursor, size=size)
    return newest_matching(rows, lambda among: _matching(among, filters), cursor, size=size, window=window)


def _matching(rows: QuerySet[Node], filters: NodeFilters) -> QuerySet[Node]:
    if filters.kind:
        rows = rows.filter(kind=filters.kind)
    if filters.merged:
        rows = rows.filter(merged_into__isnull=filters.merged == "no")
    if filters.text:
        rows = rows.filter(Q(content__icontains=filters.text) | Q(tool__icontains=filters.text))
    return rows


def find_node(workspace_id: int, uuid: UUID) -> Node | None:
    """The node, or None for an unknown or foreign one."""
    return node_rows(workspace_id).filter(uuid=uuid).first()


def find_nodes(workspace_id: int, uuids: Iterable[UUID]) -> list[Node]:
    """The nodes that there are, in the order they were asked for."""
    wanted = list(dict.fromkeys(uuids))
    found = {node.uuid: node for node in node_rows(workspace_id).filter(uuid__in=wanted)}
    return [found[uuid] for uuid in wanted if uuid in found]


def same_nodes(node: Node) -> list[Node]:
    """All nodes that people said are the same as this one, the one that is drawn first."""
    final = node.merged_into or node
    return [final, *Node.objects.filter(merged_into=final).order_by("pk")]


def count_paths(node_ids: Iterable[int]) -> dict[int, int]:
    """By node id: how many whole path versions contain the node itself; nodes in none are left out."""
    rows = PathNode.objects.filter(node__in=list(node_ids), path__container=None).values("node_id")
    return {row["node_id"]: row["n"] for row in rows.annotate(n=Count("path", distinct=True))}


@dataclass(frozen=True)
class Place:
    """Where a node stands: the path, and the step with what came back there."""

    path: Path
    step: PathNode


def list_places(nodes: Iterable[Node], *, limit: int = 25) -> list[Place]:
    """The newest whole paths through any of the nodes, old versions too; one step of each."""
    steps = PathNode.objects.filter(node__in=[node.pk for node in nodes], path__container=None)
    newest = steps.select_related("path__lineage", "path__source").order_by("-path_id", "position")
    places: dict[int, Place] = {}
    for step in newest[: 4 * limit]:
        places.setdefault(step.path_id, Place(step.path, step))
    return list(places.values())[:limit]


@dataclass(frozen=True)
class NodeCard:
    """What is known about a node: the one that is drawn, those that are the same, the paths through them."""

    node: Node
    same: list[Node]
    path_count: int
    places: list[Place]
    failures: list[Failure]


def node_card(node: Node) -> NodeCard:
    """The card of the node that is drawn for this one. Four queries."""
    head, *same = same_nodes(node)
    ids = [head.pk, *(one.pk for one in same)]
    steps = PathNode.objects.filter(node__in=ids, path__container=None)
    paths = steps.values("path").distinct()[: MAX_COUNTED + 1].count()
    places = list_places([head, *same])
    return NodeCard(head, same, paths, places, list_failures_met(places))


def list_failures_met(places: Iterable[Place], *, limit: int = 10) -> list[Failure]:
    """Failures of the calls that the steps stand for, newest first. A step names them in its details."""
    calls = Q()
    for place in places:
        seqs = place.step.details.get("seq")
        numbers = seqs if isinstance(seqs, list) else [seqs]
        known = [seq for seq in numbers if isinstance(seq, int)]
        if known and place.path.source_id is not None:
            calls |= Q(task=place.path.source_id, call__seq__in=known[:50])
    if not calls:
        return []
    rows = Failure.objects.filter(calls).select_related("task", "call", "pattern")
    return list(rows.order_by("-happened_at", "-pk")[:limit])


@dataclass(frozen=True)
class DuplicateNodes:
    """Nodes that look the same, the oldest first, and how alike they are (0 to 1)."""

    nodes: list[Node]
    likeness: float


def list_duplicates(workspace: Workspace, *, limit: int = 25) -> tuple[list[DuplicateNodes], int]:
    """Groups of nodes that may be the same, among the newest ``COMPARED``; and how many were compared."""
    rows = Node.objects.filter(workspace=workspace, merged_into=None).order_by("-pk")
    facts = [
        NodeFacts(*row)
        for row in rows.values_list("pk", "kind", "tool", "content", "params")[:COMPARED].iterator()
    ]
    groups = find_duplicates(facts)[:limit]
    return _as_nodes(groups), len(facts)


def _as_nodes(groups: list[Duplicates]) -> list[DuplicateNodes]:
    """The groups with their nodes. One query."""
    shown = {group: group.ids[:20] for group in groups}
    nodes = Node.objects.in_bulk([node_id for ids in shown.values() for node_id in ids])
    return [
        DuplicateNodes([nodes[node_id] for node_id in ids if node_id in nodes], group.likeness)
        for group, ids in shown.items()
    ]
