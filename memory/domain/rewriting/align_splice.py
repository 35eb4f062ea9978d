"""Working a step into a path: names, edges and everything else stay as they were."""

from collections.abc import Sequence

import msgspec

from memory.domain.paths.checking import MAX_NAME
from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc, chain
from memory.domain.rewriting.proposal import Rewrite


class Draft:
    """A path being changed at and before position ``place``, the failing node.

    What came back from the failing node on is forgotten, because it would come out differently.
    """

    def __init__(self, old: PathDoc, place: int) -> None:
        self._old = old
        self._names = {node.name for node in old.nodes}
        self.nodes: list[NodeDoc] = [
            _unobserved(node) if at >= place else node for at, node in enumerate(old.nodes)
        ]
        self.edges: list[EdgeDoc] = list(old.edges or chain([node.name for node in old.nodes]))
        self.failing = old.nodes[place].name

    def place(self) -> int:
        """Where the failing node stands now."""
        return next(at for at, node in enumerate(self.nodes) if node.name == self.failing)

    def insert(self, at: int, node: NodeDoc) -> NodeDoc:
        """Put a node before position ``at``; every edge that led forward to there now leads to it."""
        following = self.nodes[at].name
        earlier = {known.name for known in self.nodes[:at]}
        added = msgspec.structs.replace(node, name=self._free_name(node), observation=None, occurred_at=None)
        redirected = [
            msgspec.structs.replace(edge, target=added.name)
            if edge.target == following and edge.source in earlier
            else edge
            for edge in self.edges
        ]
        self.edges = [*redirected, EdgeDoc(source=added.name, target=following)]
        self.nodes.insert(at, added)
        return added

    def replace(self, at: int, node: NodeDoc) -> NodeDoc:
        """Put a node in the place of another, under its name."""
        self.nodes[at] = msgspec.structs.replace(
            node, name=self.nodes[at].name, observation=None, occurred_at=None, details={}
        )
        return self.nodes[at]

    def delete(self, at: int) -> None:
        """Take a node out; who led to it leads to where it led."""
        name = self.nodes.pop(at).name
        following = [edge for edge in self.edges if edge.source == name and edge.target != name]
        edges: list[EdgeDoc] = []
        for edge in self.edges:
            if edge.target == name and edge.source != name:
                edges += [msgspec.structs.replace(edge, target=after.target) for after in following]
            elif edge.source != name:
                edges.append(edge)
        self.edges = list({(edge.source, edge.target, edge.condition): edge for edge in edges}.values())

    def rewrite(self, reason: str) -> Rewrite:
        """What was done, as a rewrite of the old path; nodes that did not change are bare names."""
        known = {node.name: node for node in self._old.nodes}
        return Rewrite(
            new_nodes=tuple(node.name if known.get(node.name) == node else node for node in self.nodes),
            new_edges=_in_order(self.nodes, self.edges),
            new_tags=self._old.tags,
            reason=reason,
        )

    def _free_name(self, node: NodeDoc) -> str:
        base = (node.tool or node.name or "step")[: MAX_NAME - 8]
        name, number = base, 2
        while name in self._names:
            name, number = f"{base}-{number}", number + 1
        self._names.add(name)
        return name


def _unobserved(node: NodeDoc) -> NodeDoc:
    return msgspec.structs.replace(node, observation=None, occurred_at=None, details={})


def _in_order(nodes: Sequence[NodeDoc], edges: Sequence[EdgeDoc]) -> tuple[EdgeDoc, ...]:
    """Edges by the place of their source, otherwise as they came."""
    places = {node.name: at for at, node in enumerate(nodes)}
    return tuple(sorted(edges, key=lambda edge: places[edge.source]))
