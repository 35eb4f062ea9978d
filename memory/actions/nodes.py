"""People say which nodes are the same, and take it back. No path row is touched by it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction

from memory.domain.access import Actor, check_may
from memory.events import record_event
from memory.models import Node, Workspace

MAX_MERGED = 200
"""So many nodes may be merged at once."""


class MergeError(ValueError):
    """These nodes cannot be merged, or not be taken apart; the text is the sentence a page shows."""


@dataclass(frozen=True)
class Merge:
    """What a merge did: the node that is drawn, and those that are now the same as it (empty: no change)."""

    keep: Node
    moved: tuple[Node, ...]


@transaction.atomic
def merge_nodes(*, keep: Node, others: Sequence[Node], by: Actor, reason: str = "") -> Merge:
    """Say that ``others`` are the same as ``keep``.

    What ``keep`` itself was merged into is kept instead, and what was merged into one of the others comes
    along, so ``merged_into`` always names the node that is drawn: never a chain, never a circle. What is
    the same already changes nothing.

    Raises :class:`NotPermitted`, :class:`MergeError` for no other node, too many, another workspace, and
    nodes of different kinds.
    """
    check_may(by, "merge_nodes", within=keep.workspace_id)
    workspace = _locked_workspace(keep)
    wanted = {node.pk for node in others}
    if not wanted - {keep.pk}:
        raise MergeError("Choose at least two different nodes to merge.")
    if len(wanted) > MAX_MERGED:
        raise MergeError(f"At most {MAX_MERGED} nodes can be merged at once; these are {len(wanted)}.")
    found = list(Node.objects.filter(workspace=workspace, pk__in=wanted).select_related("merged_into"))
    if len(found) < len(wanted):
        raise MergeError("Only nodes of one workspace can be merged.")
    target = final_node(Node.objects.select_related("merged_into").get(pk=keep.pk))
    check_one_kind([target, *found])
    moved = _coming_along(target, found)
    if moved:
        Node.objects.filter(pk__in=[node.pk for node in moved]).update(merged_into=target)
        _record("merge_nodes", workspace, target, moved, by=by, reason=reason)
    return Merge(target, tuple(moved))


def check_one_kind(nodes: Iterable[Node]) -> None:
    """Raises :class:`MergeError` for nodes of different kinds: a decision is never an event."""
    kinds = list(dict.fromkeys(node.kind for node in nodes))
    if len(kinds) > 1:
        raise MergeError(f"Only nodes of one kind can be merged; these are of the kinds {', '.join(kinds)}.")


@transaction.atomic
def undo_merge(*, nodes: Sequence[Node], by: Actor, reason: str = "") -> tuple[Node, ...]:
    """Let merged nodes stand alone again. Returns those that changed.

    A node that others were merged into stays their node. Nodes that came along with one that is taken out
    stay where they are: take them out too.

    Raises :class:`NotPermitted`, :class:`MergeError` for none or nodes of different workspaces.
    """
    if not nodes:
        raise MergeError("Choose a node to take out.")
    check_may(by, "merge_nodes", within=nodes[0].workspace_id)
    workspace = _locked_workspace(nodes[0])
    ids = [node.pk for node in nodes]
    found = list(Node.objects.filter(workspace=workspace, pk__in=ids).select_related("merged_into"))
    if len(found) < len(set(ids)):
        raise MergeError("Only nodes of one workspace can be taken apart.")
    merged = [node for node in found if node.merged_into is not None]
    for target, group in _by_target(merged):
        Node.objects.filter(pk__in=[node.pk for node in group]).update(merged_into=None)
        _record("undo_merge", workspace, target, group, by=by, reason=reason)
    return tuple(merged)


def final_node(node: Node) -> Node:
    """The node that is drawn for this one: itself unless people said that it is another."""
    return node.merged_into or node


def _locked_workspace(node: Node) -> Workspace:
    """Merges of a workspace happen one after the other; writing anything else goes on meanwhile."""
    return Workspace.objects.select_for_update(no_key=True).get(pk=node.workspace_id)


def _coming_along(target: Node, chosen: Iterable[Node]) -> list[Node]:
    """The final nodes of those chosen and all that were merged into these, without the target's own."""
    heads = {final_node(node).pk for node in chosen} - {target.pk}
    rows = Node.objects.filter(pk__in=heads) | Node.objects.filter(merged_into__in=heads)
    return list(rows.select_related("merged_into").order_by("pk"))


def _by_target(nodes: Iterable[Node]) -> list[tuple[Node, list[Node]]]:
    groups: dict[int, tuple[Node, list[Node]]] = {}
    for node in nodes:
        target = final_node(node)
        groups.setdefault(target.pk, (target, []))[1].append(node)
    return list(groups.values())


def _record(
    verb: str, workspace: Workspace, target: Node, nodes: Sequence[Node], *, by: Actor, reason: str
) -> None:
    """One event about the node that is drawn, with what each other node was merged into before and after."""
    before = {str(node.uuid): str(node.merged_into.uuid) if node.merged_into else None for node in nodes}
    after = dict.fromkeys(before, str(target.uuid) if verb == "merge_nodes" else None)
    record_event(
        by=by, workspace=workspace, verb=verb, subject=target,
        old={"merged_into": before}, new={"merged_into": after}, reason=reason,
    )  # fmt: skip
