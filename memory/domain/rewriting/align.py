"""Repairing a failed path without a model: what made the same failure go away in other paths is done here.

1. A successful path of the same goal is aligned with the failed one, and its change at the failure is taken.
2. Otherwise the edits that other repairs show are ranked by how alike the failures are; the best one's
   arguments are filled in anew from this path, its goal and its error message (`align_binding`).
Nothing is executed. The ideas are EMG's (arXiv 2607.13884): edit paths between action graphs.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from memory.domain.paths.document import NodeDoc, PathDoc
from memory.domain.rewriting.align_binding import Binder, Bound, Occurrence
from memory.domain.rewriting.align_edits import (
    FailurePoint,
    LearntEdit,
    Repair,
    Step,
    habits,
    kinship,
    learn_edit,
    place_of,
    repeats,
)
from memory.domain.rewriting.align_examples import examples_of, without_composed, worst_fit
from memory.domain.rewriting.align_path import Alignment, align_nodes, same_step, same_steps
from memory.domain.rewriting.align_reason import describe, describe_direct, describe_rewording
from memory.domain.rewriting.align_roles import Words
from memory.domain.rewriting.align_shape import (
    LEAST_LIKENESS,
    likeness_of_params,
)
from memory.domain.rewriting.align_sources import Moment
from memory.domain.rewriting.align_splice import Draft
from memory.domain.rewriting.align_wording import rewordings
from memory.domain.rewriting.proposal import InvalidRewriteError, Rewrite, apply, validate

__all__ = ["Alignment", "FailurePoint", "Repair", "RewriteMemory", "align", "proposals", "propose"]

MAX_CANDIDATES = 4
MAX_REMEMBERED = 500
LEAST_SHARE = 0.1
REPEATED = 0.02
DOUBTFUL = 0.2


class RewriteMemory(msgspec.Struct, frozen=True, kw_only=True):
    """What a rewriter may know: ``successes`` of the same or other goals (best first), ``repairs`` of other
    failures (nearest or newest first), the ``versions`` that the lineage has. The first 500 of each count."""

    successes: tuple[PathDoc, ...] = ()
    repairs: tuple[Repair, ...] = ()
    versions: tuple[PathDoc, ...] = ()


class Proposed(NamedTuple):
    """A rewrite and how much speaks for it (only to compare those of one failure)."""

    rewrite: Rewrite
    score: float


def align(old: PathDoc, successes: Sequence[PathDoc]) -> Alignment:
    """The edit path (keep, add, delete, relabel, in order) from ``old`` to the most similar of ``successes``.

    Raises ValueError without any success.
    """
    if not successes:
        raise ValueError("There is no successful path to align with.")
    return max((align_nodes(old.nodes, path.nodes) for path in successes), key=lambda found: found.similarity)


def propose(old: PathDoc, failure: FailurePoint, memory: RewriteMemory) -> Rewrite | None:
    """The rewrite that memory speaks for most, or None: nothing is known, or nothing new would come of it.

    Raises KeyError when the failing node is not in the path.
    """
    best = next(iter(proposals(old, failure, memory)), None)
    if best is None:
        return None
    result = apply(old, best.rewrite)
    if any(same_steps(result, known) for known in (old, *memory.versions)):
        return None
    return best.rewrite


def proposals(old: PathDoc, failure: FailurePoint, memory: RewriteMemory) -> list[Proposed]:
    """Every rewrite that memory gives a reason for, the best first; at most one for each kind of edit.

    Raises KeyError when the failing node is not in the path.
    """
    place = place_of(old, failure)
    found = [
        *_of_same_goal(old, place, failure, memory),
        *_of_same_words(old, place, failure, memory),
        *_of_other_goals(old, place, failure, memory),
    ]
    return sorted((one for one in found if _can_be(old, one.rewrite)), key=lambda one: -one.score)


def _can_be(old: PathDoc, rewrite: Rewrite) -> bool:
    try:
        validate(old, rewrite)
    except InvalidRewriteError:
        return False
    return True


def _of_same_goal(
    old: PathDoc, place: int, failure: FailurePoint, memory: RewriteMemory
) -> Iterator[Proposed]:
    goal = _folded(old.goal)
    for path in memory.successes[:MAX_REMEMBERED]:
        if _folded(path.goal) != goal:
            continue
        edit = learn_edit(Repair(failed=old, failure=failure, fixed=path))
        if edit is not None:
            draft = Draft(old, place)
            alike = min(_likeness(draft, step, step.node) for step in edit.steps)
            for step in edit.steps:
                _take(draft, step, step.node)
            similarity = align_nodes(old.nodes, path.nodes).similarity
            if alike >= LEAST_LIKENESS:
                yield Proposed(draft.rewrite(describe_direct(old, edit, failure)), alike * (1.0 + similarity))


def _of_same_words(
    old: PathDoc, place: int, failure: FailurePoint, memory: RewriteMemory
) -> Iterator[Proposed]:
    """The failing call with the word that the error blames replaced, as fixes of such failures did it."""
    node = old.nodes[place]
    for found in rewordings(node, failure, memory.repairs[:MAX_REMEMBERED])[:1]:
        draft = Draft(old, place)
        params = node.params | {found.name: found.value}
        new = draft.replace(place, msgspec.structs.replace(node, params=params))
        yield Proposed(draft.rewrite(describe_rewording(old, new, found, failure)), found.confidence)


def _of_other_goals(
    old: PathDoc, place: int, failure: FailurePoint, memory: RewriteMemory
) -> Iterator[Proposed]:
    tool = old.nodes[place].tool
    moment = Moment(old.goal, old.nodes[:place], old.nodes[place:], failure.message)
    query = LearntEdit(moment, tool, failure.masked(), (), old.goal)
    successes = memory.successes[:MAX_REMEMBERED]
    learnt = [edit for repair in memory.repairs[:MAX_REMEMBERED] if (edit := learn_edit(repair)) is not None]
    kin = [(kinship(edit, query), edit) for edit in (*learnt, *habits(successes, tool))]
    families: defaultdict[tuple[tuple[str, int, str], ...], list[tuple[float, LearntEdit]]] = defaultdict(
        list
    )
    for near, edit in kin:
        if near > 0:
            families[edit.shape].append((near, edit))
    words = Words([old.goal, *(path.goal for path in successes), *(edit.goal for edit in learnt)])
    total = sum(near for near, _ in kin) or 1.0
    ranked = sorted(families.values(), key=lambda family: -sum(near for near, _ in family))
    known = sum(near > 0 for near, _ in kin)
    for family in ranked[:MAX_CANDIDATES]:
        share = sum(near for near, _ in family) / total
        if share >= LEAST_SHARE:
            filled = _filled_in(
                old, place, failure, family, learnt, successes, words, share * known / (known + 1)
            )
            if filled is not None:
                yield filled


def _filled_in(
    old: PathDoc,
    place: int,
    failure: FailurePoint,
    family: list[tuple[float, LearntEdit]],
    learnt: Sequence[LearntEdit],
    successes: Sequence[PathDoc],
    words: Words,
    share: float,
) -> Proposed | None:
    """None where an argument that is known would have to take a value of another shape."""
    draft = Draft(old, place)
    model = max(family, key=lambda pair: pair[0])[1]
    taken: list[tuple[Step, NodeDoc, dict[str, Bound]]] = []
    score = share
    for step in model.steps:
        at = _at(draft, step)
        moment = Moment(old.goal, draft.nodes[:at], draft.nodes[at:], failure.message)
        examples = examples_of(step, family, learnt, successes)
        bound = Binder(examples, words).bind(Occurrence(moment, {}))
        if _keeps_tool(draft, step):
            bound = without_composed(draft.nodes[at].params, bound, examples)
        node = _node(draft, step, bound, at)
        alike = min(_likeness(draft, step, node), worst_fit(bound, examples))
        if alike < LEAST_LIKENESS or same_step(draft.nodes[at], node):
            return None
        if repeats(draft.nodes, at, node) and step.operation == "add":
            score *= REPEATED
        score *= alike * (DOUBTFUL + _confidence(bound))
        taken.append((step, _take(draft, step, node), bound))
    return Proposed(draft.rewrite(describe(old, model, taken, len(family), failure)), score)


def _confidence(bound: dict[str, Bound]) -> float:
    """How sure the least sure argument is: one wrong value is enough to fail."""
    return min((value.confidence for value in bound.values()), default=1.0)


def _keeps_tool(draft: Draft, step: Step) -> bool:
    """Whether the step gives a call other arguments."""
    return step.operation == "relabel" and draft.nodes[_at(draft, step)].tool == step.node.tool


def _likeness(draft: Draft, step: Step, node: NodeDoc) -> float:
    """How alike the arguments are that ``node`` changes; 1 where it takes no other call's place."""
    if not _keeps_tool(draft, step):
        return 1.0
    return likeness_of_params(draft.nodes[_at(draft, step)].params, node.params)


def _node(draft: Draft, step: Step, bound: dict[str, Bound], at: int) -> NodeDoc:
    params = {name: value.value for name, value in bound.items()}
    if _keeps_tool(draft, step):
        params = draft.nodes[at].params | params
    return NodeDoc(
        name="", tool=step.node.tool, params=params, content=step.node.content, kind=step.node.kind
    )


def _take(draft: Draft, step: Step, node: NodeDoc) -> NodeDoc:
    at = _at(draft, step)
    if step.operation == "add":
        return draft.insert(at, node)
    if step.operation == "delete":
        draft.delete(at)
        return node
    return draft.replace(at, node)


def _at(draft: Draft, step: Step) -> int:
    return max(draft.place() - step.back, 0)


def _folded(goal: str) -> str:
    return " ".join(goal.casefold().split())
