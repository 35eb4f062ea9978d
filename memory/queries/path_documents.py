"""Stored paths as documents again: the same nodes, edges and parts in the same order."""

from collections import defaultdict
from collections.abc import Sequence
from typing import cast

from memory.domain.paths.document import EdgeDoc, NodeDoc, NodeKind, PathDoc, PathLevel, PathResult
from memory.models import Path, PathEdge, PathNode


def read_paths(paths: Sequence[Path]) -> list[PathDoc]:
    """The documents of the paths, in order, with their pieces. The number of queries does not grow."""
    pieces, everyone = _pieces(paths)
    steps: dict[int, list[PathNode]] = defaultdict(list)
    for step in PathNode.objects.filter(path__in=everyone).order_by("position").select_related("node"):
        steps[step.path_id].append(step)
    edges: dict[int, list[PathEdge]] = defaultdict(list)
    for edge in PathEdge.objects.filter(path__in=everyone).order_by("position"):
        edges[edge.path_id].append(edge)
    return [_document(path, pieces, steps, edges) for path in paths]


def read_path(path: Path) -> PathDoc:
    """The document of one path."""
    return read_paths([path])[0]


def _pieces(paths: Sequence[Path]) -> tuple[dict[int, list[Path]], list[int]]:
    """Pieces by container, and the ids of all paths. A query for each level there is (three at most)."""
    found: dict[int, list[Path]] = defaultdict(list)
    everyone = level = list({path.pk for path in paths})
    while level:
        rows = list(Path.objects.filter(container__in=level, span_start__isnull=False))
        for row in sorted(rows, key=lambda row: row.part_position):
            found[cast(int, row.container_id)].append(row)
        level = [row.pk for row in rows]
        everyone = everyone + level
    return found, everyone


def _document(
    path: Path,
    pieces: dict[int, list[Path]],
    steps: dict[int, list[PathNode]],
    edges: dict[int, list[PathEdge]],
) -> PathDoc:
    names = {step.pk: step.name for step in steps[path.pk]}
    is_piece = path.span_start is not None and path.span_end is not None
    return PathDoc(
        goal=path.goal,
        nodes=tuple(node_document(step) for step in steps[path.pk]),
        edges=tuple(
            EdgeDoc(
                source=names[edge.source_id],
                target=names[edge.target_id],
                condition=edge.condition,
                label=edge.label,
            )
            for edge in edges[path.pk]
        ),
        tags=tuple(path.tags),
        result=cast(PathResult, path.result),
        reward=path.reward,
        level=cast(PathLevel, path.level),
        agent=path.agent,
        env=path.env,
        span=cast(tuple[int, int], (path.span_start, path.span_end)) if is_piece else None,
        parts=tuple(_document(piece, pieces, steps, edges) for piece in pieces[path.pk]),
    )


def node_document(step: PathNode) -> NodeDoc:
    """A node at its place. Its row must come with ``node``."""
    return NodeDoc(
        name=step.name,
        kind=cast(NodeKind, step.node.kind),
        content=step.node.content,
        tool=step.node.tool,
        params=step.node.params,
        observation=step.observation,
        occurred_at=step.occurred_at,
        details=step.details,
    )
