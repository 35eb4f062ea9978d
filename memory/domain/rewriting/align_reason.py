"""Saying in a few sentences why a path should change, for the person who decides."""

from collections.abc import Sequence
from typing import Any

import msgspec

from memory.domain.paths.document import NodeDoc, PathDoc
from memory.domain.rewriting.align_binding import GOAL, USUAL, Bound
from memory.domain.rewriting.align_edits import FailurePoint, LearntEdit, Step, place_of
from memory.domain.rewriting.align_sources import Source
from memory.domain.rewriting.align_wording import Rewording

MAX_SAID = 200
MAX_VALUE = 80

_WHERE = {
    "next": "as the next call",
    "previous": "as the call before",
    "earlier": "as an earlier call",
    "later": "as a later call",
}


def describe(
    old: PathDoc,
    model: LearntEdit,
    taken: Sequence[tuple[Step, NodeDoc, dict[str, Bound]]],
    times: int,
    failure: FailurePoint,
) -> str:
    """The reason of a rewrite whose steps were learnt from ``times`` other paths, ``model`` the nearest."""
    known = f"In {times} other paths" if times > 1 else "In another path"
    lesson = "good runs do this before it" if not model.template else "this made such a failure go away"
    lines = [_failed(old, failure), f"{known} {lesson}; the nearest had the goal “{_cut(model.goal)}”."]
    lines += [_step(old, step, node, bound, failure) for step, node, bound in taken]
    return "\n".join(lines)


def describe_direct(old: PathDoc, edit: LearntEdit, failure: FailurePoint) -> str:
    """The reason of a rewrite whose steps a successful path of the same goal took."""
    lines = [
        _failed(old, failure),
        "A path of the same goal went well; this is what it did differently here.",
    ]
    lines += [_step(old, step, step.node, {}, failure) for step in edit.steps]
    return "\n".join(lines)


def describe_rewording(old: PathDoc, node: NodeDoc, found: Rewording, failure: FailurePoint) -> str:
    """The reason of a rewrite that puts another word into the failing call."""
    others = f"{found.times} other paths" if found.times > 1 else "another path"
    return "\n".join(
        (
            _failed(old, failure),
            f"In {others} such a failure went away with “{found.instead}” instead of “{found.word}”.",
            f"Changed to {_call(node)}.",
        )
    )


def _failed(old: PathDoc, failure: FailurePoint) -> str:
    node = next(node for node in old.nodes if node.name == failure.node)
    return f"{node.tool or node.name} failed: “{_cut(failure.message)}”."


def _step(old: PathDoc, step: Step, node: NodeDoc, bound: dict[str, Bound], failure: FailurePoint) -> str:
    place = place_of(old, failure) - step.back
    before = old.nodes[max(place, 0)]
    what = {"add": "Added", "delete": "Dropped"}.get(step.operation, "Changed to")
    under = f" under the observation of {old.nodes[place - 1].name}" if place > 0 else " at the start"
    where = f"{under}, before {before.name}" if step.operation == "add" else ""
    origins = "; ".join(f"{name} {_origin(value.origin)}" for name, value in bound.items())
    return f"{what} {_call(node)}{where}." + (f" Values: {origins}." if origins else "")


def _origin(origin: Source) -> str:
    if origin == GOAL:
        return "from the goal"
    if origin == USUAL:
        return "as it usually is"
    if origin[0] == "said":
        return "from the error message"
    if origin[0] == "returned":
        return f"from what {origin[1]} returned ({'.'.join(origin[2:]) or 'as it is'})"
    return f"{_WHERE[origin[0]]} has it ({'.'.join(origin[1:])})"


def _call(node: NodeDoc) -> str:
    if not node.tool:
        return f"“{_cut(node.content or node.name)}”"
    return f"{node.tool}({', '.join(f'{name}={_value(value)}' for name, value in node.params.items())})"


def _value(value: Any) -> str:
    return _cut(msgspec.json.encode(value).decode(), MAX_VALUE)


def _cut(text: str, size: int = MAX_SAID) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= size else f"{plain[: size - 1]}…"
