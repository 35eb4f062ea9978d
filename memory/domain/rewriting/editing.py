"""Small steps of a person at a rewrite: a node moved, taken out, put in. Edges follow where that is clear."""

from collections.abc import Sequence
from itertools import pairwise

from msgspec import structs

from memory.domain.paths.document import EdgeDoc, NodeDoc
from memory.domain.rewriting.proposal import Rewrite

Entry = str | NodeDoc


def blank_rewrite(names: Sequence[str], edges: Sequence[EdgeDoc], reason: str) -> Rewrite:
    """The rewrite that changes nothing yet: where writing one by hand begins."""
    return Rewrite(new_nodes=tuple(names), new_edges=tuple(edges), reason=reason)


def move_node(rewrite: Rewrite, place: int, by: int) -> Rewrite:
    """The node ``by`` places further; at the ends it stays. A path that was one line is one line again.

    Raises IndexError for a place that there is not.
    """
    nodes = list(rewrite.new_nodes)
    node = nodes.pop(_known(rewrite, place))
    nodes.insert(min(max(place + by, 0), len(nodes)), node)
    edges = () if _is_line(rewrite) else rewrite.new_edges
    return structs.replace(rewrite, new_nodes=tuple(nodes), new_edges=edges)


def remove_node(rewrite: Rewrite, place: int) -> Rewrite:
    """Without the node; what led to it leads to where it led. Raises IndexError."""
    nodes = list(rewrite.new_nodes)
    name = name_of(nodes.pop(_known(rewrite, place)))
    edges = rewrite.new_edges
    into = [edge for edge in edges if edge.target == name and edge.source != name]
    out = [edge for edge in edges if edge.source == name and edge.target != name]
    kept = [edge for edge in edges if name not in (edge.source, edge.target)]
    for first in into:
        for second in out:
            joined = _joined(first, second)
            if joined not in kept and joined.source != joined.target:
                kept.append(joined)
    return structs.replace(rewrite, new_nodes=tuple(nodes), new_edges=tuple(kept))


def insert_node(rewrite: Rewrite, place: int, node: NodeDoc) -> Rewrite:
    """The node after the one at ``place`` (-1: as the first), with a name that is free.

    Edges that left the one before leave from the new node. Raises IndexError.
    """
    before = None if place < 0 else name_of(rewrite.new_nodes[_known(rewrite, place)])
    fresh = structs.replace(node, name=free_name(rewrite, node.name))
    nodes = list(rewrite.new_nodes)
    nodes.insert(place + 1, fresh)
    edges = list(rewrite.new_edges)
    if edges and before is None:
        edges.insert(0, EdgeDoc(source=fresh.name, target=name_of(rewrite.new_nodes[0])))
    elif edges and before is not None:
        edges = [_from(edge, before, fresh.name) for edge in edges]
        edges.append(EdgeDoc(source=before, target=fresh.name))
    return structs.replace(rewrite, new_nodes=tuple(nodes), new_edges=tuple(edges))


def free_name(rewrite: Rewrite, wanted: str) -> str:
    """The wanted name, with a number where it is taken."""
    taken = {name_of(entry) for entry in rewrite.new_nodes}
    wanted = wanted or "step"
    number, name = 1, wanted
    while name in taken:
        number += 1
        name = f"{wanted}-{number}"
    return name


def name_of(entry: Entry) -> str:
    """What the edges call an entry of ``new_nodes``."""
    return entry if isinstance(entry, str) else entry.name


def _known(rewrite: Rewrite, place: int) -> int:
    if not 0 <= place < len(rewrite.new_nodes):
        raise IndexError(f"There is no step {place + 1}.")
    return place


def _is_line(rewrite: Rewrite) -> bool:
    """Whether the edges are exactly the nodes in order, without any condition or label."""
    names = [name_of(entry) for entry in rewrite.new_nodes]
    line = [EdgeDoc(source=one, target=other) for one, other in pairwise(names)]
    return list(rewrite.new_edges) == line


def _from(edge: EdgeDoc, old: str, new: str) -> EdgeDoc:
    return structs.replace(edge, source=new) if edge.source == old else edge


def _joined(first: EdgeDoc, second: EdgeDoc) -> EdgeDoc:
    condition = " and ".join(part for part in (first.condition, second.condition) if part)
    return EdgeDoc(source=first.source, target=second.target, condition=condition, label=first.label)
