"""From decision points to the nodes and edges of a path.

A working call is an action. A failed one is followed by the event of its failure and the agent's decision
what to do about it, so the edges tell under which condition the path goes on where; an edge past the detour
says what would have come next had the call worked.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from memory.domain.paths.document import EdgeDoc, NodeDoc
from memory.domain.paths.folding import Point
from memory.domain.paths.runs import RunCall, RunFailure
from memory.domain.paths.sizes import (
    MAX_ATTEMPT,
    MAX_ATTEMPTS,
    MAX_NAME,
    MAX_OBSERVATION,
    MAX_SEQS,
    MAX_TEXT,
    cut_params,
    cut_text,
    cut_value,
)

OK = "ok"
"""The condition of an edge that is taken when the call worked."""
ERROR = "error: "
"""Begins the condition of an edge that is taken when it failed; the masked message follows."""


class Walk(msgspec.Struct):
    """Nodes and edges, and for each point the first and the last of its nodes."""

    nodes: list[NodeDoc] = []
    edges: list[EdgeDoc] = []
    places: list[tuple[int, int]] = []


class _Names:
    """Names that are unique within a path."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def give(self, wanted: str) -> str:
        """``wanted``, or with the next free number."""
        base = name = cut_text(wanted.strip() or "step", MAX_NAME)
        number = 1
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name


def walk(points: Sequence[Point], thoughts: Mapping[int, str]) -> Walk:
    """The path along the points, in order."""
    way, names = Walk(), _Names()
    leading: tuple[str, str] = ("", "")  # condition and label of the edge that leads on
    for place, point in enumerate(points):
        first = len(way.nodes)
        _append(way, _shown_node(point, names, thoughts), *leading)
        leading = (OK if point.calls else "", "")
        if point.failure is not None:
            leading = _append_failure(way, points, place, names)
        way.places.append((first, len(way.nodes) - 1))
    _branch(way, points)
    return way


def answer_only(note: str) -> Walk:
    """The path of a run that called no tool."""
    node = NodeDoc(name="answer", kind="decision", content="Answer without calling a tool")
    details = {"reasoning": cut_text(note)} if note else {}
    return Walk([msgspec.structs.replace(node, details=details)], [], [])


def _append(way: Walk, node: NodeDoc, condition: str, label: str) -> None:
    if way.nodes:
        edge = EdgeDoc(source=way.nodes[-1].name, target=node.name, condition=condition, label=label)
        way.edges.append(edge)
    way.nodes.append(node)


def _append_failure(way: Walk, points: Sequence[Point], place: int, names: _Names) -> tuple[str, str]:
    point = points[place]
    failure = point.failure
    assert failure is not None  # noqa: S101 - the caller looked
    event = NodeDoc(
        name=names.give("error"),
        kind="event",
        content=f"{cut_text(point.shown.tool, MAX_NAME)} failed: {failure.short}",
        observation=cut_text(failure.message, MAX_TEXT),
        occurred_at=point.shown.happened_at,
        details=_told(error_type=failure.error_type, pattern=failure.pattern),
    )
    _append(way, event, f"{ERROR}{failure.short}", "failed")
    label, text = _reaction(points, place)
    _append(way, NodeDoc(name=names.give(label), kind="decision", content=text), "", "")
    return "", label


def _reaction(points: Sequence[Point], place: int) -> tuple[str, str]:
    """What the agent did about a failure: one word for the edge, a sentence for the node."""
    point, tool = points[place], points[place].shown.tool
    if place + 1 == len(points):
        return "stop", "Stop"
    following = points[place + 1]
    if not following.calls:
        return "go on", "Go on"
    changed = _changed(point.shown.input, following.calls[0].input)
    if point.again == place + 1:
        return "retry", f"Try {tool} again {f'with other {changed}' if changed else 'unchanged'}"
    is_same = following.shown.tool == tool
    first = f"{tool} with another input ({changed})" if is_same else following.shown.tool
    if point.again is not None:
        again = "the failed call" if is_same else tool
        return "prepare", f"First call {first}, then try {again} again"
    if is_same:
        return "switch", f"Call {first} instead"
    return "switch", f"Switch to {following.shown.tool}"


def _changed(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    missing = object()
    names = sorted(name for name in {*one, *other} if one.get(name, missing) != other.get(name, missing))
    return cut_text(", ".join(names), MAX_NAME)


def _branch(way: Walk, points: Sequence[Point]) -> None:
    """Edges past each detour, behind the others: what comes next where the call works at once."""
    for place, point in enumerate(points):
        after = (point.recovery or 0) + 1
        if point.recovery is not None and after < len(points):
            source, target = way.nodes[way.places[place][0]], way.nodes[way.places[after][0]]
            edge = EdgeDoc(source=source.name, target=target.name, condition=OK, label="worked at once")
            way.edges.append(edge)


def _shown_node(point: Point, names: _Names, thoughts: Mapping[int, str]) -> NodeDoc:
    if not point.calls:
        return NodeDoc(
            name=names.give("left out"),
            kind="event",
            content="Steps are left out here",
            details={"left_out": point.left_out},
        )
    call = point.shown
    params, is_cut = cut_params(dict(call.input))
    return NodeDoc(
        name=names.give(call.tool),
        kind="action",
        tool=call.tool,
        params=params,
        observation=cut_value(call.output, MAX_OBSERVATION),
        occurred_at=call.happened_at,
        details=_details(point, thoughts) | ({"params_cut": True} if is_cut else {}),
    )


def _details(point: Point, thoughts: Mapping[int, str]) -> dict[str, Any]:
    """What was folded into the point."""
    first, calls = point.calls[0], point.calls
    known = [call.duration_ms for call in calls if call.duration_ms is not None]
    thought = first.reasoning or thoughts.get(first.step, "")
    details = _told(
        seq=[call.seq for call in calls[:MAX_SEQS]],
        ms=round(sum(known), 3) if known else None,
        reasoning=cut_text(thought),
        reasoning_digest="" if thought else first.reasoning_digest,
    )
    if len(calls) == 1:
        return details
    if point.failure is None:
        return details | {"repeats": len(calls)}
    shown = calls if len(calls) <= MAX_ATTEMPTS else [*calls[:1], *calls[1 - MAX_ATTEMPTS :]]
    left = len(calls) - len(shown)
    return details | {"attempts": [_attempt(call) for call in shown]} | _told(attempts_left_out=left)


def _attempt(call: RunCall) -> dict[str, Any]:
    failure: RunFailure = call.failure or RunFailure("")
    return _told(
        seq=call.seq,
        input=cut_value(dict(call.input), MAX_ATTEMPT),
        error=cut_text(failure.message, MAX_ATTEMPT),
        ms=call.duration_ms,
    )


def _told(**details: Any) -> dict[str, Any]:
    """Only what there is something to say about (a ``seq`` of 0 is something)."""
    return {name: value for name, value in details.items() if value or (name == "seq" and value is not None)}
