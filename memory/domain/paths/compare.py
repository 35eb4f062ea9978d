"""What changed between two paths: nodes and edges that stayed, went, came, or were changed in place."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Literal

import msgspec

from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc, node_key

ChangeKind = Literal["kept", "added", "removed", "relabelled"]


class NodeChange(msgspec.Struct, frozen=True):
    """One step. ``old`` is None for an added one, ``new`` for a removed one."""

    kind: ChangeKind
    old: NodeDoc | None
    new: NodeDoc | None


class EdgeChange(msgspec.Struct, frozen=True):
    """One edge, by the names in its own path."""

    kind: ChangeKind
    old: EdgeDoc | None
    new: EdgeDoc | None


class Comparison(msgspec.Struct, frozen=True):
    """Steps in the order of reading, then edges. ``names``: old names of steps that stayed -> new ones."""

    nodes: tuple[NodeChange, ...]
    edges: tuple[EdgeChange, ...]
    names: dict[str, str]

    @property
    def is_same(self) -> bool:
        """Whether nothing was changed."""
        kinds = [change.kind for change in self.nodes] + [change.kind for change in self.edges]
        return all(kind == "kept" for kind in kinds)


def compare(old: PathDoc, new: PathDoc) -> Comparison:
    """What has to be done to ``old`` to get ``new``.

    Steps are the same when kind, content, tool and params are; a step that kept its name or its tool in the
    same place is relabelled. Edges are followed through the steps they join.
    """
    nodes = _compare_nodes(old.nodes, new.nodes)
    names = {change.old.name: change.new.name for change in nodes if change.old and change.new}
    return Comparison(nodes, _compare_edges(old.edges, new.edges, names), names)


def _compare_nodes(old: Sequence[NodeDoc], new: Sequence[NodeDoc]) -> tuple[NodeChange, ...]:
    matcher = SequenceMatcher(None, [node_key(n) for n in old], [node_key(n) for n in new], autojunk=False)
    found: list[NodeChange] = []
    for tag, start, end, start_new, end_new in matcher.get_opcodes():
        if tag == "equal":
            pairs = zip(old[start:end], new[start_new:end_new], strict=True)
            found += [NodeChange("kept", one, other) for one, other in pairs]
        else:
            found += _replaced(old[start:end], new[start_new:end_new])
    return tuple(found)


def _replaced(old: Sequence[NodeDoc], new: Sequence[NodeDoc]) -> list[NodeChange]:
    """Between two kept steps: pairs of one name or tool, in order, are relabelled; others go and come."""
    found: list[NodeChange] = []
    done = 0
    for node in old:
        match = next((at for at in range(done, len(new)) if _is_relabelled(node, new[at])), None)
        if match is None:
            found.append(NodeChange("removed", node, None))
            continue
        found += [NodeChange("added", None, other) for other in new[done:match]]
        found.append(NodeChange("relabelled", node, new[match]))
        done = match + 1
    return found + [NodeChange("added", None, other) for other in new[done:]]


def _is_relabelled(one: NodeDoc, other: NodeDoc) -> bool:
    if one.kind != other.kind:
        return False
    return one.name == other.name or (bool(one.tool) and one.tool == other.tool)


def _compare_edges(
    old: Sequence[EdgeDoc], new: Sequence[EdgeDoc], names: dict[str, str]
) -> tuple[EdgeChange, ...]:
    waiting: dict[tuple[str, str], list[EdgeDoc]] = {}
    for edge in new:
        waiting.setdefault((edge.source, edge.target), []).append(edge)
    found: list[EdgeChange] = []
    for edge in old:
        ends = (names.get(edge.source, ""), names.get(edge.target, ""))
        choice = _nearest(edge, waiting.get(ends, []))
        if choice is None:
            found.append(EdgeChange("removed", edge, None))
            continue
        waiting[ends].remove(choice)
        is_kept = (edge.condition, edge.label) == (choice.condition, choice.label)
        found.append(EdgeChange("kept" if is_kept else "relabelled", edge, choice))
    left = [edge for edges in waiting.values() for edge in edges]
    return (*found, *(EdgeChange("added", None, edge) for edge in left))


def _nearest(edge: EdgeDoc, choices: Sequence[EdgeDoc]) -> EdgeDoc | None:
    """The one with the same words, if there is one, else the first."""
    same = [c for c in choices if (c.condition, c.label) == (edge.condition, edge.label)]
    return next(iter([*same, *choices]), None)
