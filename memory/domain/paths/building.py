"""Building: from a finished task to its paths."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from memory.domain.paths.document import EdgeDoc, NodeDoc, PathDoc, PathLevel
from memory.domain.paths.folding import Point, find_recoveries, fold
from memory.domain.paths.keys import lineage_key
from memory.domain.paths.runs import Run
from memory.domain.paths.segmenting import Segment, find_subtasks, find_tries, name_goal
from memory.domain.paths.sizes import MAX_GOAL, SHORT, cut_text
from memory.domain.paths.variants import (
    Standing,
    clean_standing,
    part_standing,
    tries_standing,
    walk_standing,
)
from memory.domain.paths.walking import Walk, answer_only, walk

MAX_POINTS = 80
"""Decision points of a path from a run: the first and the last of a longer one are kept."""


class Variant(msgspec.Struct, frozen=True):
    """A path of a run, and the lineage that it belongs to."""

    key: str
    doc: PathDoc


def build_paths(run: Run) -> list[Variant]:
    """The paths of one execution: its walk, and the way without detours where it took some to a success.

    The walk is success, failure, retry (something failed on the way to a success) or pending (nobody said
    how it ended), so the same lineage says so when the outcome comes late. ``run.calls`` are in order.
    """
    points = _shorten(_with_gap(run))
    find_recoveries(points)
    found = [Variant(lineage_key("task", run.external_id), _whole(run, points, walk_standing(run, points)))]
    standing = clean_standing(run, points)
    if standing:
        working = [point for point in points if point.failure is None]
        clean = _whole(run, working, standing)
        found.append(Variant(lineage_key("success", run.external_id), clean))
    return found


def _with_gap(run: Run) -> list[Point]:
    """Folded points, with one that stands for the calls which were not loaded."""
    if not run.left_out:
        return fold(run.calls)
    return [
        *fold(run.calls[: run.head]),
        Point(left_out=run.left_out),
        *fold(run.calls[run.head :]),
    ]


def _shorten(points: list[Point]) -> list[Point]:
    """At most ``MAX_POINTS``: the middle of a long walk becomes one point that says how much it was."""
    if len(points) <= MAX_POINTS:
        return points
    head = MAX_POINTS * 3 // 5
    tail = MAX_POINTS - head - 1
    middle = points[head:-tail]
    gap = Point(left_out=sum(len(point.calls) + point.left_out for point in middle))
    return [*points[:head], gap, *points[-tail:]]


def _whole(run: Run, points: Sequence[Point], standing: Standing) -> PathDoc:
    way = walk(points, run.thoughts) if points else answer_only(" ".join(run.thoughts.values()))
    way.nodes[-1] = _ended(way.nodes[-1], run)
    level: PathLevel = "subtask" if run.is_nested else "task"
    goal = cut_text(run.goal.strip() or name_goal(points) or "Answer", MAX_GOAL)
    doc = _document(run, way, standing, goal=goal, level=level)
    return msgspec.structs.replace(doc, parts=tuple(_parts(run, points, way, standing, level)))


def _ended(node: NodeDoc, run: Run) -> NodeDoc:
    """The last node knows what was said about the end."""
    said: dict[str, Any] = {}
    failure = run.task_failure
    note = run.note or (failure.message if failure else "")
    if note:
        said["note"] = cut_text(note)
    if failure and failure.pattern:
        said["pattern"] = failure.pattern
    return msgspec.structs.replace(node, details=node.details | {"end": said}) if said else node


def _parts(
    run: Run, points: Sequence[Point], way: Walk, standing: Standing, level: PathLevel
) -> Iterator[PathDoc]:
    """Sub-goals, with the tries in each of them; the tries alone where there are no sub-goals."""
    subtasks = find_subtasks(points, run.thoughts) if level == "task" else []
    if not subtasks:
        yield from _tries(run, points, way, Segment(0, len(points) - 1))
    for segment in subtasks:
        inside = points[segment.first : segment.last + 1]
        goal = segment.goal or name_goal(inside)
        part = _piece(run, way, segment, 0, part_standing(standing, inside), goal=goal, level="subtask")
        yield msgspec.structs.replace(part, parts=tuple(_tries(run, points, way, segment)))


def _tries(run: Run, points: Sequence[Point], way: Walk, within: Segment) -> Iterator[PathDoc]:
    """Paths of single tools within a segment. One that is all of it would say nothing new."""
    if not points:
        return
    offset = way.places[within.first][0]
    for segment in find_tries(points):
        if segment.first < within.first or segment.last > within.last:
            continue
        if (segment.first, segment.last) != (within.first, within.last):
            standing = tries_standing(points[segment.first : segment.last + 1])
            goal = cut_text(segment.goal, SHORT)
            yield _piece(run, way, segment, offset, standing, goal=goal, level="tool")


def _piece(
    run: Run,
    way: Walk,
    segment: Segment,
    offset: int,
    standing: Standing,
    *,
    goal: str,
    level: PathLevel,
) -> PathDoc:
    """The nodes of a segment and the edges between them. Its span counts from ``offset``."""
    first, last = way.places[segment.first][0], way.places[segment.last][1]
    nodes = way.nodes[first : last + 1]
    names = {node.name for node in nodes}
    edges = [edge for edge in way.edges if edge.source in names and edge.target in names]
    doc = _document(run, Walk(nodes, edges), standing, goal=goal, level=level)
    return msgspec.structs.replace(doc, span=(first - offset, last - offset))


def _document(run: Run, way: Walk, standing: Standing, *, goal: str, level: PathLevel) -> PathDoc:
    edges: list[EdgeDoc] = way.edges
    return PathDoc(
        goal=goal,
        nodes=tuple(way.nodes),
        edges=tuple(edges),
        tags=tuple(run.tags),
        result=standing.result,
        reward=round(standing.reward, 6),
        level=level,
        agent=run.agent,
        env=dict(run.env),
    )
