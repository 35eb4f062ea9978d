"""The calls that show how a step's arguments are filled in, and which values suit what they show."""

from collections.abc import Hashable, Sequence
from typing import Any

from memory.domain.paths.document import PathDoc
from memory.domain.rewriting.align_binding import Bound, Occurrence
from memory.domain.rewriting.align_edits import LearntEdit, Step
from memory.domain.rewriting.align_shape import fit, is_composed, is_usually_composed
from memory.domain.rewriting.align_sources import Moment, canonical

MAX_OCCURRENCES = 300
REPAIR_WEIGHT = 3.0
LEAST_COMPOSED = 0.3
Examples = Sequence[tuple[Occurrence, float]]


def worst_fit(bound: dict[str, Bound], examples: Examples) -> float:
    """How well the least fitting value fits in with the argument's values in other calls; 0 for a composed
    text that hardly anything speaks for, because it was composed for something else."""
    if any(is_composed(one.value) and one.confidence < LEAST_COMPOSED for one in bound.values()):
        return 0.0
    return min((fit(one.value, _known(name, examples)) for name, one in bound.items()), default=1.0)


def without_composed(params: dict[str, Any], bound: dict[str, Bound], examples: Examples) -> dict[str, Bound]:
    """What was composed for this goal stays: what other goals' calls had says nothing about it."""
    return {
        name: value
        for name, value in bound.items()
        if not is_composed(params.get(name)) and not is_usually_composed(_known(name, examples))
    }


def _known(name: str, examples: Examples) -> list[Any]:
    return [one.params[name] for one, _ in examples if name in one.params]


def examples_of(
    step: Step,
    family: list[tuple[float, LearntEdit]],
    learnt: Sequence[LearntEdit],
    successes: Sequence[PathDoc],
) -> list[tuple[Occurrence, float]]:
    """Calls of the step's tool: in good paths, in repairs of any failure, most of all of this one."""
    found: dict[tuple[str, Hashable], tuple[Occurrence, float]] = {}
    for path in successes:
        for at, node in enumerate(path.nodes):
            if node.tool == step.node.tool:
                moment = Moment(path.goal, path.nodes[:at], path.nodes[at + 1 :])
                found[path.goal, canonical(node.params)] = Occurrence(moment, node.params), 1.0
    of_this = {id(edit) for _, edit in family}
    for edit in learnt:
        for other in edit.steps:
            if other.node.tool == step.node.tool:
                weight = REPAIR_WEIGHT if id(edit) in of_this else 1.0
                same = edit.goal, canonical(other.node.params)
                if same not in found or weight > found[same][1]:
                    found[same] = Occurrence(_shifted(edit.moment, other.back), other.node.params), weight
    return list(found.values())[-MAX_OCCURRENCES:]


def _shifted(moment: Moment, back: int) -> Moment:
    if not back:
        return moment
    before = tuple(moment.before)
    return moment._replace(before=before[:-back], after=(*before[-back:], *moment.after))
