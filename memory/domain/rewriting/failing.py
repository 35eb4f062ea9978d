"""Where a stored path went wrong, and the path as a rewriter should see it: what was done, without detours.

A path from a run tells its failures as nodes: the failing call, the event of its failure, the agent's
decision what to do about it (:mod:`memory.domain.paths.walking`). A next version keeps none of these.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from memory.domain.paths.document import NodeDoc, PathDoc, chain
from memory.domain.rewriting.align import FailurePoint, Repair
from memory.domain.rewriting.align_shape import LEAST_LIKENESS, likeness_of_params

ERROR = "error: "
"""Begins the condition of the edge to a failure; the masked message follows."""


class Hint(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the failure from elsewhere: the call's ``seq`` where the path is its task's own."""

    tool: str = ""
    message: str = ""
    error_type: str = ""
    template: str = ""
    seq: int | None = None


def find_failure(path: PathDoc, hint: Hint | None = None) -> FailurePoint | None:
    """The point to repair: the hint's call, else the last failure that the path tells, else its last action.

    None for a path without any action.
    """
    hint = hint or Hint()
    told = _told(path)
    place = _hinted(path, hint)
    if place is None and told:
        place = max(told)
    if place is None:
        place = max((at for at, node in enumerate(path.nodes) if node.tool), default=None)
    if place is None:
        return None
    known = told.get(place)
    return FailurePoint(
        node=path.nodes[place].name,
        message=hint.message or (known.message if known else ""),
        error_type=hint.error_type or (known.error_type if known else ""),
        template=hint.template or (known.template if known else ""),
    )


def plain_walk(path: PathDoc, keep: str = "") -> PathDoc:
    """The path's actions and own decisions, in order, without failed tries and what tells of them.

    ``keep`` is the name of a failed action that stays (the one to repair). A path that tells of no failure is
    returned as it is.
    """
    told = _told(path)
    if not told:
        return path
    names = [path.nodes[at].name for at in told]
    dropped = {name for name in names if name != keep}
    for at in told:
        dropped |= {node.name for node in _telling(path.nodes, at)}
    nodes = tuple(node for node in path.nodes if node.name not in dropped)
    return msgspec.structs.replace(path, nodes=nodes, edges=chain([node.name for node in nodes]), parts=())


def repair_of(walk: PathDoc, fixed: PathDoc) -> Repair | None:
    """What the way from ``walk``, with its last failure, to ``fixed`` teaches; None where nothing failed.

    Of the walk, the steps between the failing call and the same tool's next call of that shape are the
    detour: what was missing before the failure. So they are not part of the failed path.
    """
    told = _told(walk)
    if not told:
        return None
    place = max(told)
    failing = walk.nodes[place]
    after = [node for node in walk.nodes[place + 1 :] if node.tool]
    recovery = _recovery(failing, after)
    rest = after[recovery + 1 :] if recovery is not None else []
    before = plain_walk(msgspec.structs.replace(walk, nodes=walk.nodes[:place], edges=()))
    nodes = (*(node for node in before.nodes if node.name != failing.name), failing, *rest)
    failed = msgspec.structs.replace(walk, nodes=nodes, edges=chain([node.name for node in nodes]), parts=())
    return Repair(failed=failed, failure=told[place], fixed=plain_walk(fixed))


def _recovery(failing: NodeDoc, after: Sequence[NodeDoc]) -> int | None:
    """Where the call was made again: a call of the tool with arguments of another shape is something else."""
    return next(
        (
            at
            for at, node in enumerate(after)
            if node.tool == failing.tool and likeness_of_params(failing.params, node.params) >= LEAST_LIKENESS
        ),
        None,
    )


def earlier_tries(path: PathDoc, keep: str) -> list[NodeDoc]:
    """The failed actions of a path, each with the arguments of every try; without the one named ``keep``."""
    return [
        msgspec.structs.replace(node, params=params)
        for node in (path.nodes[at] for at in _told(path))
        for params in _inputs(node)
        if node.name != keep or params != node.params
    ]


def _inputs(node: NodeDoc) -> list[dict[str, Any]]:
    attempts = node.details.get("attempts")
    tries = (
        [one.get("input") for one in attempts if isinstance(one, dict)] if isinstance(attempts, list) else []
    )
    return [node.params, *(params for params in tries if isinstance(params, dict))]


def _told(path: PathDoc) -> dict[int, FailurePoint]:
    """Position of each failing action -> what the event behind it says."""
    templates = {
        edge.target: edge.condition.removeprefix(ERROR)
        for edge in path.edges
        if edge.condition.startswith(ERROR)
    }
    found = {}
    for at, node in enumerate(path.nodes[:-1]):
        event = path.nodes[at + 1]
        if node.tool and event.kind == "event" and event.name in templates:
            found[at] = FailurePoint(
                node=node.name,
                message=event.observation if isinstance(event.observation, str) else event.content,
                error_type=str(event.details.get("error_type", "")),
                template=templates[event.name],
            )
    return found


def _telling(nodes: Sequence[NodeDoc], at: int) -> list[NodeDoc]:
    """The event behind a failing action, and the agent's decision about it."""
    telling = [nodes[at + 1]]
    if at + 2 < len(nodes) and nodes[at + 2].kind == "decision":
        telling.append(nodes[at + 2])
    return telling


def _hinted(path: PathDoc, hint: Hint) -> int | None:
    if hint.seq is not None:
        for at, node in enumerate(path.nodes):
            seqs = node.details.get("seq", ())
            if isinstance(seqs, list) and hint.seq in seqs:
                return at
    if hint.tool:
        return max((at for at, node in enumerate(path.nodes) if node.tool == hint.tool), default=None)
    return None
