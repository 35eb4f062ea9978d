"""What the alignment of a failed path with a successful one says about the failing call."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from corrections.domain.inducing.calls import ObservedCall, PastCall
from corrections.domain.inducing.recovering import Recovery, takes_over
from memory.domain.rewriting.align_edits import LearntEdit, Repair, learn_edit, place_of


class Forgotten(NamedTuple):
    """A step that was left out, and the call of the failed path before which it belongs."""

    step: PastCall
    before: ObservedCall


class Lesson(NamedTuple):
    """A failing call, the steps it lacked or the tool that took over, the input it should have had, and where
    each step belongs."""

    call: ObservedCall
    recoveries: tuple[Recovery, ...]
    fixed: Mapping[str, Any] | None
    forgotten: tuple[Forgotten, ...] = ()


def lesson_of(repair: Repair, *, run: str, call_id: str = "") -> Lesson | None:
    """What one repair teaches; None where the failing node is no tool call.

    ``run`` names the failed path's task, ``call_id`` the failing call, if it has an id; its scope is read
    from the failed path's ``env``. Raises KeyError when the failing node is not in the failed path.
    """
    place = place_of(repair.failed, repair.failure)
    nodes = repair.failed.nodes
    node = nodes[place]
    if not node.tool:
        return None
    call = _observed(repair, place, run=run, call_id=call_id or f"{run}/{node.name}")
    edit = learn_edit(repair)
    if edit is None:
        return Lesson(call, (), None)
    forgotten = tuple(
        Forgotten(
            PastCall(step.node.tool, step.node.params),
            call if not step.back else _observed(repair, place - step.back, run=run, call_id=call.id),
        )
        for step in edit.steps
        if step.operation == "add" and step.node.tool and nodes[place - step.back].tool
    )
    return Lesson(call, tuple(_recoveries(edit, call)), _fixed(edit, call), forgotten)


def _observed(repair: Repair, place: int, *, run: str, call_id: str) -> ObservedCall:
    """A node of the failed path as a call; what went wrong is always the failing node's."""
    nodes, failure = repair.failed.nodes, repair.failure
    return ObservedCall(
        id=call_id,
        run=run,
        tool=nodes[place].tool,
        input=nodes[place].params,
        failed=True,
        message=failure.message,
        error_type=failure.error_type or "error",
        env=repair.failed.env,
        goal=repair.failed.goal,
        history=tuple(PastCall(other.tool, other.params) for other in nodes[:place] if other.tool),
    )


def _recoveries(edit: LearntEdit, call: ObservedCall) -> list[Recovery]:
    found = []
    for step in edit.steps:
        tool, params = step.node.tool, step.node.params
        if not tool or tool == call.tool:
            continue
        if step.operation == "add":
            found.append(Recovery(call.run, "insert", tool, params, call.input))
        elif step.operation == "relabel" and takes_over(call.input, params):
            found.append(Recovery(call.run, "switch", tool, params, call.input))
    return found


def _fixed(edit: LearntEdit, call: ObservedCall) -> Mapping[str, Any] | None:
    """The failing call's input in the successful path, where the same tool took its place."""
    relabelled = [step.node for step in edit.steps if step.operation == "relabel"]
    return next((node.params for node in relabelled if node.tool == call.tool), None)
