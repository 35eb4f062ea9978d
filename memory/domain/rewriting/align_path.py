"""The edit path between two paths: which steps are kept, added, dropped, or done in another way.

Needleman and Wunsch's alignment (1970) over the order of the nodes, with the edits of EMG (arXiv 2607.13884):
add, delete or relabel an action under an observation.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from memory.domain.paths.document import NodeDoc, PathDoc

Operation = Literal["keep", "add", "delete", "relabel"]
COST_ADD = COST_DELETE = 1.0
COST_RELABEL = 0.5
COST_REPLACE = 1.75


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
    """The cheapest edit path from ``old`` to ``new``, in their product of steps."""
    costs = _costs(old, new)
    edits: list[Edit] = []
    row, column = len(old), len(new)
    while row or column:
        under = old[row - 1].name if row else ""
        if (
            row
            and column
            and _is(costs, row, column, costs[row - 1][column - 1] + _change(old[row - 1], new[column - 1]))
        ):
            row, column = row - 1, column - 1
            operation: Operation = "relabel" if _change(old[row], new[column]) else "keep"
            edits.append(Edit(operation, old[row], new[column], old[row - 1].name if row else ""))
        elif column and _is(costs, row, column, costs[row][column - 1] + COST_ADD):
            column -= 1
            edits.append(Edit("add", None, new[column], under))
        else:
            row -= 1
            edits.append(Edit("delete", old[row], None, old[row - 1].name if row else ""))
    cost = costs[len(old)][len(new)]
    worst = len(old) * COST_DELETE + len(new) * COST_ADD
    return Alignment(tuple(reversed(edits)), cost, 1.0 - cost / worst if worst else 1.0)


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
    if same_step(old, new):
        return 0.0
    return COST_RELABEL if old.tool and old.tool == new.tool else COST_REPLACE


def _is(costs: list[list[float]], row: int, column: int, cost: float) -> bool:
    return abs(costs[row][column] - cost) < 1e-9
