"""Coordinated rewrites: what a rewrite changes about nodes, and the same change made in another path."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc, node_key
from memory.domain.rewriting.accepting import kept_parts
from memory.domain.rewriting.proposal import PENDING_REWARD

SHARED_KINDS = ("action", "entity")
"""What paths can be said to share. Events and decisions read alike in paths that have nothing in common."""


class NodeChange(msgspec.Struct, frozen=True):
    """A node that a rewrite takes away: ``key`` says which one it is, ``new`` what stands there now (None:
    nothing).
    """

    name: str
    key: str
    new: NodeDoc | None
    kind: str = "action"

    @property
    def is_shared(self) -> bool:
        """Whether another path with this node is touched by the change."""
        return self.kind in SHARED_KINDS


def changed_nodes(old: PathDoc, new: PathDoc) -> list[NodeChange]:
    """The nodes of ``old`` that ``new`` removes or makes into something else, in the old order.

    A node is what its key says (kind, content, tool, params): one that only moved, or that the new path has
    under another name, did not change.
    """
    kept = {node_key(node) for node in new.nodes}
    by_name = {node.name: node for node in new.nodes}
    changes = []
    for node in old.nodes:
        key = node_key(node)
        if key not in kept:
            changes.append(NodeChange(node.name, key, by_name.get(node.name), node.kind))
    return changes


def carry_along(path: PathDoc, changes: Iterable[NodeChange], same: Mapping[str, str]) -> PathDoc | None:
    """``path`` with the same changes made, or None where they leave nothing of it or change nothing.

    ``same`` maps node keys to the key of the node they were merged into. An event or a decision changes only
    right behind an action or entity that does: elsewhere it says something of another step. Names, order and
    edges of what stays are kept; around a removed node the edges are joined. The result is pending, the
    reward a new version's.
    """
    wanted = {same.get(change.key, change.key): change.new for change in changes}
    keys = {node.name: node_key(node) for node in path.nodes}
    keys = {name: same.get(key, key) for name, key in keys.items()}
    hit = {node.name for node in path.nodes if node.kind in SHARED_KINDS and keys[node.name] in wanted}
    behind = {edge.target for edge in path.edges if edge.source in hit}
    nodes: list[NodeDoc] = []
    removed: list[str] = []
    for node in path.nodes:
        key = keys[node.name]
        if key not in wanted or (node.kind not in SHARED_KINDS and node.name not in behind):
            nodes.append(node)
            continue
        new = wanted[key]
        if new is None:
            removed.append(node.name)
        else:
            nodes.append(msgspec.structs.replace(new, name=node.name))
    if not hit or not nodes:
        return None
    edges: Sequence[EdgeDoc] = path.edges
    for name in removed:
        edges = _bridged(edges, name)
    changed = msgspec.structs.replace(
        path, nodes=tuple(nodes), edges=tuple(edges), parts=(), result="pending", reward=PENDING_REWARD
    )
    return msgspec.structs.replace(changed, parts=tuple(kept_parts(path, changed)))


def _bridged(edges: Sequence[EdgeDoc], name: str) -> list[EdgeDoc]:
    """The edges without a node: whatever led to it leads to where it led."""
    into = [edge for edge in edges if edge.target == name and edge.source != name]
    out = [edge for edge in edges if edge.source == name and edge.target != name]
    kept = [edge for edge in edges if name not in (edge.source, edge.target)]
    known = {(edge.source, edge.target, edge.condition) for edge in kept}
    for first in into:
        for second in out:
            condition = " and ".join(part for part in (first.condition, second.condition) if part)
            joined = EdgeDoc(
                source=first.source, target=second.target, condition=condition, label=first.label
            )
            said = (joined.source, joined.target, joined.condition)
            if joined.source != joined.target and said not in known:
                known.add(said)
                kept.append(joined)
    return kept
