"""The edit path between two paths: which steps are kept, added, dropped, or done in another way.

Needleman and Wunsch's alignment (1970) over the order of the nodes, with the edits of EMG (arXiv 2607.13884):
add, delete or relabel an action under an observation.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from memory.domain.paths.document import NodeDoc, PathDoc
from memory.domain.rewriting.align_shape import likeness_of_params

Operation = Literal["keep", "add", "delete", "relabel"]
COST_ADD = COST_DELETE = 1.0
COST_RELABEL = 0.5
COST_REPLACE = 1.75
MAX_CELLS = 40_000


class Edit(NamedTuple):
    """One step of an edit path. ``under`` is the old node whose observation it follows ("" at the start)."""

    operation: Operation
    old: NodeDoc | None
    new: NodeDoc | None
    under: str


class Alignment(NamedTuple):
    """An edit path in order. ``cost`` is its weight, ``similarity`` 1 for equal paths and 0 for strangers."""

    edits: tuple[Edit, ...]
    cost: float
    similarity: float

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        return all(edit.operation == "keep" for edit in self.edits)


def align_nodes(old: Sequence[NodeDoc], new: Sequence[NodeDoc]) -> Alignment:
    """The cheapest edit path from ``old`` to ``new``.

    What both begin and end with is kept; beyond 40,000 pairs of steps between, all of it counts as changed.
    """
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if not same_step(old[at], new[at])), shorter)
    rest = shorter - head
    tail = next((at for at in range(rest) if not same_step(old[-1 - at], new[-1 - at])), rest)
    old_end, new_end = len(old) - tail, len(new) - tail
    middle, cost = _middle(old[head:old_end], new[head:new_end], old[head - 1].name if head else "")
    edits = (
        *_kept(old[:head], new[:head], ""),
        *middle,
        *_kept(old[old_end:], new[new_end:], old[old_end - 1].name if old_end else ""),
    )
    worst = len(old) * COST_DELETE + len(new) * COST_ADD
    return Alignment(edits, cost, 1.0 - cost / worst if worst else 1.0)


def _kept(old: Sequence[NodeDoc], new: Sequence[NodeDoc], under: str) -> Iterator[Edit]:
    for here, there in zip(old, new, strict=True):
        yield Edit("keep", here, there, under)
        under = here.name


def _middle(old: Sequence[NodeDoc], new: Sequence[NodeDoc], first: str) -> tuple[list[Edit], float]:
    if len(old) * len(new) > MAX_CELLS:
        deleted = [Edit("delete", node, None, first) for node in old]
        added = [Edit("add", None, node, old[-1].name) for node in new]
        return [*deleted, *added], len(old) * COST_DELETE + len(new) * COST_ADD
    costs = _costs(old, new)
    edits: list[Edit] = []
    row, column = len(old), len(new)
    while row or column:
        here = costs[row][column]
        if row and column and _is(here, costs[row - 1][column - 1] + _change(old[row - 1], new[column - 1])):
            row, column = row - 1, column - 1
            operation: Operation = "relabel" if _change(old[row], new[column]) else "keep"
            edits.append(Edit(operation, old[row], new[column], _name(old, row - 1, first)))
        elif column and _is(here, costs[row][column - 1] + COST_ADD):
            column -= 1
            edits.append(Edit("add", None, new[column], _name(old, row - 1, first)))
        else:
            row -= 1
            edits.append(Edit("delete", old[row], None, _name(old, row - 1, first)))
    return edits[::-1], costs[len(old)][len(new)]


def _name(nodes: Sequence[NodeDoc], place: int, first: str) -> str:
    return nodes[place].name if place >= 0 else first


def same_step(one: NodeDoc, other: NodeDoc) -> bool:
    """Whether two nodes do the same: tool and params of an action, the content of anything else."""
    if one.tool or other.tool:
        return one.tool == other.tool and one.params == other.params
    return one.kind == other.kind and one.content == other.content


def same_steps(one: PathDoc, other: PathDoc) -> bool:
    """Whether two paths do the same things in the same order."""
    return len(one.nodes) == len(other.nodes) and all(map(same_step, one.nodes, other.nodes))


def _costs(old: Sequence[NodeDoc], new: Sequence[NodeDoc]) -> list[list[float]]:
    costs = [[column * COST_ADD for column in range(len(new) + 1)]]
    for row, here in enumerate(old, start=1):
        above = costs[-1]
        line = [row * COST_DELETE]
        for column, there in enumerate(new, start=1):
            line.append(
                min(
                    above[column - 1] + _change(here, there),
                    line[column - 1] + COST_ADD,
                    above[column] + COST_DELETE,
                )
            )
        costs.append(line)
    return costs


def _change(old: NodeDoc, new: NodeDoc) -> float:
    """The less alike the arguments of two calls of a tool are, the more they are two calls."""
    if same_step(old, new):
        return 0.0
    if not old.tool or old.tool != new.tool:
        return COST_REPLACE
    return COST_REPLACE - (COST_REPLACE - COST_RELABEL) * likeness_of_params(old.params, new.params)


def _is(cost: float, other: float) -> bool:
    return abs(cost - other) < 1e-9
