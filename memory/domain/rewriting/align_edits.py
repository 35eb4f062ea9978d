"""Edits that made a failure go away in other paths, and how well each suits a failure at hand."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from memory.domain.messages import CallWords, mask_message
from memory.domain.paths.document import NodeDoc, PathDoc
from memory.domain.rewriting.align_path import align_nodes, same_step
from memory.domain.rewriting.align_sources import Moment, texts

MAX_STEPS = 3
SAME_TEMPLATE, SAME_TOOL, OTHER_TOOL = 0.5, 0.7, 0.5
SAME_PREVIOUS, SAME_AFTER, SAME_REACH = 3.0, 1.5, 1.5
HABIT = 0.05
_WORD = re.compile(r"[^\W\d_]{2,}")


class FailurePoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where a path went wrong: the ``node`` (by name) and what was said. ``template`` is the masked message
    of the failure's pattern; without one the message is masked here."""

    node: str
    message: str
    error_type: str = ""
    template: str = ""

    def masked(self) -> str:
        """The message without its literals."""
        return self.template or mask_message(self.message, CallWords()).template


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """A path that failed, where, and a path of the same task that then went well."""

    failed: PathDoc
    failure: FailurePoint
    fixed: PathDoc


class Step(NamedTuple):
    """One change of a learnt edit. ``back`` is how many nodes before the failing one it belongs; 0: directly
    before it, or in its place."""

    operation: str
    back: int
    node: NodeDoc


class LearntEdit(NamedTuple):
    """What was done about a failure once. ``weight`` is below 1 for a mere habit of good paths."""

    moment: Moment
    tool: str
    template: str
    steps: tuple[Step, ...]
    goal: str
    weight: float = 1.0

    @property
    def shape(self) -> tuple[tuple[str, int, str], ...]:
        """What two edits have in common that differ only in their arguments."""
        return tuple((step.operation, step.back, step.node.tool) for step in self.steps)


def place_of(path: PathDoc, failure: FailurePoint) -> int:
    """The position of the failing node. Raises KeyError when the path has no node of that name."""
    for place, node in enumerate(path.nodes):
        if node.name == failure.node:
            return place
    raise KeyError(failure.node)


def learn_edit(repair: Repair) -> LearntEdit | None:
    """The smallest change before or at the failing node that the repair shows; None if there is none."""
    try:
        place = place_of(repair.failed, repair.failure)
    except KeyError:
        return None
    steps = _steps(repair, place)
    if not steps:
        return None
    nodes = repair.failed.nodes
    return LearntEdit(
        moment=Moment(repair.failed.goal, nodes[:place], nodes[place:], repair.failure.message),
        tool=nodes[place].tool,
        template=repair.failure.masked(),
        steps=steps,
        goal=repair.fixed.goal,
    )


def habits(successes: Iterable[PathDoc], tool: str) -> list[LearntEdit]:
    """What good paths do directly before ``tool``: a weak hint where no repair is known."""
    found = []
    for path in successes:
        for place, node in enumerate(path.nodes):
            if node.tool == tool and place and path.nodes[place - 1].tool not in ("", tool):
                moment = Moment(path.goal, path.nodes[: place - 1], path.nodes[place:])
                step = Step("add", 0, path.nodes[place - 1])
                found.append(LearntEdit(moment, tool, "", (step,), path.goal, HABIT))
                break
    return found


def kinship(edit: LearntEdit, query: LearntEdit) -> float:
    """How much an edit's failure is like the one at hand; 0 when they have nothing in common."""
    near = _same_failure(edit, query)
    if not near:
        return 0.0
    if _previous(edit) == _previous(query):
        near *= SAME_PREVIOUS
    if _following(edit) == _following(query):
        near *= SAME_AFTER
    if _mentioned(edit) == _mentioned(query):
        near *= SAME_REACH
    return near * edit.weight


def _same_failure(edit: LearntEdit, query: LearntEdit) -> float:
    if not edit.template:
        return 1.0 if edit.tool == query.tool else 0.0
    if edit.template == query.template:
        return 1.0 if edit.tool == query.tool else SAME_TEMPLATE
    mine, theirs = set(_WORD.findall(edit.template.casefold())), set(_WORD.findall(query.template.casefold()))
    shared = len(mine & theirs) / (len(mine | theirs) or 1)
    return shared**4 * (SAME_TOOL if edit.tool == query.tool else OTHER_TOOL)


def _previous(edit: LearntEdit) -> str:
    return edit.moment.before[-1].tool if edit.moment.before else ""


def _following(edit: LearntEdit) -> str:
    return edit.moment.after[1].tool if len(edit.moment.after) > 1 else ""


def _mentioned(edit: LearntEdit) -> bool:
    """Whether what the failing call names was there before in the path."""
    wanted = {text for node in edit.moment.after[:1] for text in texts(node.params)}
    return any(wanted & set(texts(node.params)) for node in edit.moment.before)


def _steps(repair: Repair, place: int) -> tuple[Step, ...]:
    nodes = repair.failed.nodes
    places = {node.name: at for at, node in enumerate(nodes)}
    steps: list[Step] = []
    for edit in align_nodes(nodes, repair.fixed.nodes).edits:
        at = places[edit.under] + 1 if edit.under else 0
        if edit.operation == "add" and edit.new is not None and at <= place:
            steps.append(Step("add", place - at, edit.new))
        elif edit.old is not None and edit.old.name == repair.failure.node and edit.operation != "keep":
            steps.append(Step(edit.operation, 0, edit.new or edit.old))
    return tuple(steps[-MAX_STEPS:])


def repeats(nodes: Sequence[NodeDoc], at: int, node: NodeDoc) -> bool:
    """Whether ``node`` put before position ``at`` would only do what is done just before or just after."""
    return same_step(nodes[at], node) or (at > 0 and same_step(nodes[at - 1], node))
