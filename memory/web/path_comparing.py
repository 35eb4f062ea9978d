"""Two paths side by side: what a comparison marks in their drawings and lists as changes."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from memory.domain.graphs.pictures import Mark, node_texts
from memory.domain.paths.compare import Comparison, EdgeChange, NodeChange, compare
from memory.domain.paths.document import NodeDoc, PathDoc
from memory.web.drawing import Drawing
from memory.web.path_drawings import draw_path
from memory.web.path_words import kind_words


@dataclass(frozen=True)
class Change:
    """A line of the list: what happened to a step or an edge, and its boxes in the two drawings.

    ``old`` and ``new`` are short texts, empty where there is none.
    """

    kind: Mark
    is_edge: bool
    old: str
    new: str
    shows: str
    old_node: NodeDoc | None = None
    new_node: NodeDoc | None = None


@dataclass(frozen=True)
class Compared:
    """Both drawings with their marks, the steps in reading order and the edges that changed, and counts."""

    old: Drawing
    new: Drawing
    steps: list[Change]
    edges: list[Change]
    counts: Mapping[str, int]

    @property
    def is_same(self) -> bool:
        """Whether nothing changed."""
        return not any(self.counts[kind] for kind in ("added", "removed", "relabelled"))


def compare_paths(
    old: PathDoc,
    new: PathDoc,
    *,
    old_title: str = "",
    new_title: str = "",
    names: tuple[str, str] = ("old", "new"),
) -> Compared:
    """Draw both with what changed between them; ``names`` tell the drawings of the page apart."""
    comparison = compare(old, new)
    sides = (_Side(names[0], old), _Side(names[1], new))
    steps = [_step_change(change, *sides) for change in comparison.nodes]
    edges = [_edge_change(change, *sides) for change in comparison.edges if change.kind != "kept"]
    counts = dict.fromkeys(("kept", "added", "removed", "relabelled"), 0)
    for line in (*steps, *edges):
        counts[line.kind] += 1
    return Compared(
        _drawn(sides[0], comparison, 0, old_title or _("Before")),
        _drawn(sides[1], comparison, 1, new_title or _("After")),
        steps,
        edges,
        counts,
    )


class _Side:
    """One of the two paths: where its steps are, and what they are called."""

    def __init__(self, name: str, path: PathDoc) -> None:
        self.name, self.path = name, path
        self.place = {node.name: place for place, node in enumerate(path.nodes)}
        self.words = kind_words()

    def text(self, node: NodeDoc | None) -> str:
        if node is None:
            return ""
        title, text = node_texts(node, self.words)
        return f"{self.place[node.name] + 1}. {title}" + (f": {text}" if text else "")

    def ends(self, edge: EdgeChange, which: int) -> str:
        found = edge.new if which else edge.old
        if found is None:
            return ""
        said = " · ".join(part for part in (found.condition, found.label) if part)
        return f"{self.place[found.source] + 1} → {self.place[found.target] + 1}" + (
            f": {said}" if said else ""
        )

    def box(self, name: str) -> str:
        return f"{self.name}:n{self.place[name]}"


def _step_change(change: NodeChange, old: _Side, new: _Side) -> Change:
    boxes = [side.box(node.name) for side, node in ((old, change.old), (new, change.new)) if node]
    return Change(
        change.kind,
        False,
        old.text(change.old),
        new.text(change.new),
        " ".join(boxes),
        change.old,
        change.new,
    )


def _edge_change(change: EdgeChange, old: _Side, new: _Side) -> Change:
    boxes = [side.box(edge.target) for side, edge in ((old, change.old), (new, change.new)) if edge]
    return Change(change.kind, True, old.ends(change, 0), new.ends(change, 1), " ".join(boxes))


def _drawn(side: _Side, comparison: Comparison, which: int, title: str) -> Drawing:
    """The marks of one side, by the names and the edges of its own path."""
    nodes = [(change.new if which else change.old, change.kind) for change in comparison.nodes]
    edges = [(change.new if which else change.old, change.kind) for change in comparison.edges]
    kinds = {id(edge): kind for edge, kind in edges if edge is not None}
    return draw_path(
        side.path,
        name=side.name,
        title=title,
        node_marks={node.name: kind for node, kind in nodes if node is not None},
        edge_marks={place: kinds.get(id(edge), "") for place, edge in enumerate(side.path.edges)},
    )
