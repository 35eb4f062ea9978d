"""A path as an ordered list: the same facts as its drawing, step by step."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from memory.domain.graphs.pictures import Mark, given_text, node_texts, node_tone
from memory.domain.graphs.texts import shorten
from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc

STEPS_PER_PAGE = 200
GIVEN_CELLS = 240


@dataclass(frozen=True)
class Stretch:
    """The part of a long path that its list shows: positions from 1, and where the ones beside it begin."""

    first: int
    last: int
    total: int

    @property
    def before(self) -> int:
        """Where the stretch before begins; 0 for none."""
        return max(1, self.first - STEPS_PER_PAGE) if self.first > 1 else 0

    @property
    def after(self) -> int:
        """Where the next stretch begins; 0 for none."""
        return self.last + 1 if self.last < self.total else 0

    @property
    def positions(self) -> slice:
        """The positions from 0."""
        return slice(self.first - 1, self.last)


def stretch_from(number: int | None, total: int) -> Stretch:
    """The stretch that begins at a step (from 1); at the beginning for anything that is no step."""
    first = number if number is not None and 1 <= number <= total else 1
    return Stretch(first, min(total, first + STEPS_PER_PAGE - 1), total)


@dataclass(frozen=True)
class Exit:
    """An edge that leaves a step: ``number`` and ``title`` are those of the step it leads to."""

    number: int
    title: str
    edge: EdgeDoc
    mark: Mark = ""
    is_next: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing to say: it always leads to the step that follows anyway."""
        return self.is_next and not (self.edge.condition or self.edge.label or self.mark)


@dataclass(frozen=True)
class StepRow:
    """A node at its place, ``number`` from 1; ``box`` is its id in the drawing, ``given`` its params cut."""

    number: int
    box: str
    node: NodeDoc
    title: str
    text: str
    given: str
    tone: str
    mark: Mark
    exits: tuple[Exit, ...]


def step_rows(
    path: PathDoc,
    *,
    node_marks: Mapping[str, Mark] | None = None,
    edge_marks: Mapping[int, Mark] | None = None,
    words: Mapping[str, str] | None = None,
    shown: slice = slice(None),
) -> list[StepRow]:
    """The nodes in order (those at the ``shown`` positions), each with the edges that leave it."""
    number = {node.name: place for place, node in enumerate(path.nodes)}
    titles = [node_texts(node, words)[0] for node in path.nodes]
    exits: dict[str, list[Exit]] = defaultdict(list)
    for place, edge in enumerate(path.edges):
        if edge.source in number and edge.target in number:
            there = number[edge.target]
            mark = (edge_marks or {}).get(place, "")
            is_next = there == number[edge.source] + 1
            exits[edge.source].append(Exit(there + 1, titles[there], edge, mark, is_next))
    return [
        StepRow(
            place + 1,
            f"n{place}",
            node,
            titles[place],
            node.content if node.content != titles[place] else "",
            shorten(given_text(node), GIVEN_CELLS),
            node_tone(node),
            (node_marks or {}).get(node.name, ""),
            tuple(exits[node.name]),
        )
        for place, node in list(enumerate(path.nodes))[shown]
    ]
