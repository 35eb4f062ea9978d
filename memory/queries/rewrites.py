"""Rewrites: the queue, alerts, and which other paths a rewrite touches."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from memory.domain.rewriting.carrying import NodeChange
from memory.models import Alert, Node, Path, PathNode, RewriteProposal, Workspace
from memory.queries.paging import Page, newest_first

OPEN_STATUSES = ("queued", "needs_human", "given_up", "proposed")
"""Nobody has decided yet."""

WAITING_STATUSES = ("needs_human", "given_up", "proposed")
"""A person is to decide now."""

MAX_TOUCHED = 50
MAX_PATHS = 20


@dataclass(frozen=True)
class RewriteFilters:
    """What the list is narrowed to. ``status`` is a status, ``open`` for the undecided, or "" for all."""

    status: str = ""
    trigger: str = ""
    path: UUID | None = None


def rewrite_rows(workspace_id: int) -> QuerySet[RewriteProposal]:
    """Every proposal of a workspace, with its path, lineage and new path."""
    rows = RewriteProposal.objects.filter(workspace_id=workspace_id)
    return rows.select_related("path", "lineage", "new_path", "task", "failure", "localization")


def list_rewrites(workspace: Workspace, filters: RewriteFilters, cursor: str) -> Page[RewriteProposal]:
    """Newest first."""
    rows = rewrite_rows(workspace.pk).defer("transcript")
    rows = in_status(rows, filters.status)
    if filters.trigger:
        rows = rows.filter(trigger=filters.trigger)
    if filters.path:
        rows = rows.filter(path__uuid=filters.path)
    return newest_first(rows, cursor)


def in_status(rows: QuerySet[RewriteProposal], status: str) -> QuerySet[RewriteProposal]:
    """Those in one status; ``open``: nobody has decided yet; ``waiting``: somebody should now; "": all."""
    if status == "open":
        return rows.filter(status__in=OPEN_STATUSES)
    if status == "waiting":
        return rows.filter(status__in=WAITING_STATUSES)
    return rows.filter(status=status) if status else rows


def alert_rows(workspace_id: int) -> QuerySet[Alert]:
    """Every alert of a workspace, with its lineage."""
    return Alert.objects.filter(workspace_id=workspace_id).select_related("lineage")


def list_alerts(workspace: Workspace, cursor: str, *, is_open: bool | None = None) -> Page[Alert]:
    """Newest first; only the open or only the closed ones where that is asked for."""
    rows = alert_rows(workspace.pk)
    if is_open is not None:
        rows = rows.filter(closed_at__isnull=is_open)
    return newest_first(rows, cursor)


def list_touched(path: Path, changes: Sequence[NodeChange]) -> list[dict[str, Any]]:
    """The changed nodes that other active paths use too, each with those paths.

    ``[{"node": uuid, "name", "title", "change": "removed" | "changed", "count", "paths": [{"uuid", "key",
    "goal", "result", "reward"}]}]``, most used nodes first. Only actions and entities are shared. A node
    counts as used where a node that was merged with it is. At most 50 nodes, and 20 paths each, the most used
    first; ``count`` counts all.
    """
    shared = [change for change in changes if change.is_shared][:MAX_TOUCHED]
    by_key = {change.key: change for change in shared}
    nodes = list(Node.objects.filter(workspace=path.workspace_id, key__in=by_key))
    twins = _twins(nodes)
    touched: list[dict[str, Any]] = []
    for node in sorted(nodes, key=lambda node: list(by_key).index(node.key)):
        rows = _users(path, twins[node.pk])
        count = rows.count()
        if count:
            change = by_key[node.key]
            touched.append(
                {
                    "node": str(node.uuid),
                    "name": change.name,
                    "title": str(node),
                    "change": "removed" if change.new is None else "changed",
                    "count": count,
                    "paths": [_brief(row) for row in rows.order_by("-use_count", "-pk")[:MAX_PATHS]],
                }
            )
    return sorted(touched, key=lambda node: -node["count"])


def same_nodes(workspace_id: int, keys: Iterable[str]) -> dict[str, str]:
    """Node key -> key of the node it was merged into, for these keys and for what was merged with them."""
    nodes = list(Node.objects.filter(workspace=workspace_id, key__in=set(keys)))
    homes = {node.merged_into_id or node.pk for node in nodes}
    rows = Node.objects.filter(workspace=workspace_id).filter(Q(pk__in=homes) | Q(merged_into__in=homes))
    found = {node.pk: node for node in rows}
    return {node.key: found[node.merged_into_id or node.pk].key for node in found.values()}


def _users(path: Path, node_ids: Sequence[int]) -> QuerySet[Path]:
    """Other active whole paths with one of these nodes."""
    users = PathNode.objects.filter(node__in=node_ids).values("path")
    rows = Path.objects.active().whole().filter(workspace=path.workspace_id, pk__in=users)
    return rows.exclude(lineage=path.lineage_id).exclude(result="template")


def _twins(nodes: Sequence[Node]) -> dict[int, list[int]]:
    """Node id -> ids of everything that people said is the same, itself included."""
    homes = {node.merged_into_id or node.pk for node in nodes}
    members: dict[int, list[int]] = defaultdict(list)
    rows = Node.objects.filter(Q(pk__in=homes) | Q(merged_into__in=homes))
    for pk, home in rows.values_list("pk", "merged_into"):
        members[home or pk].append(pk)
    return {node.pk: members[node.merged_into_id or node.pk] for node in nodes}


def _brief(path: Path) -> dict[str, Any]:
    return {
        "uuid": str(path.uuid),
        "key": path.key,
        "goal": path.goal[:200],
        "result": path.result,
        "reward": path.reward,
    }
