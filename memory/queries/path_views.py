"""Paths as the API says them."""

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from memory.domain.paths.document import PathDoc, PathLevel, PathOrigin, PathResult, PathStatus
from memory.models import Path
from memory.queries.path_documents import read_path
from memory.queries.paths import list_parts


class PathSummary(msgspec.Struct, frozen=True):
    """A version of a path as lists show it.

    ``reward`` lies between 0 and 1. ``source`` is the task it was built from, ``parent`` the version it was
    made from, ``container`` the path that it is a part of; all by uuid.
    """

    uuid: UUID
    lineage: UUID
    key: str
    version: int
    goal: str
    tags: list[str]
    tools: list[str]
    agent: str
    level: PathLevel
    origin: PathOrigin
    result: PathResult
    status: PathStatus
    reward: float
    rewrite_count: int
    use_count: int
    success_count: int
    node_count: int
    source: UUID | None
    parent: UUID | None
    container: UUID | None
    created_at: datetime
    created_by: str
    updated_at: datetime


class PathDetail(msgspec.Struct, frozen=True):
    """A version with its whole document. ``parts`` are paths of their own, the next level down."""

    path: PathSummary
    document: PathDoc
    parts: list[PathSummary]


class PathVersions(msgspec.Struct, frozen=True):
    """All versions of a lineage, oldest first. ``parent`` makes them a tree."""

    lineage: UUID
    key: str
    retired_at: datetime | None
    versions: list[PathSummary]


def summarize(path: Path) -> PathSummary:
    """A row as lists show it. Load it with lineage, source, parent and container."""
    return msgspec.convert(
        {
            name: getattr(path, name)
            for name in PathSummary.__struct_fields__
            if name not in ("lineage", "source", "parent", "container")
        }
        | {
            "lineage": path.lineage.uuid,
            "source": path.source.uuid if path.source else None,
            "parent": path.parent.uuid if path.parent else None,
            "container": path.container.uuid if path.container else None,
        },
        PathSummary,
    )


def detail(path: Path) -> PathDetail:
    """A row with its document and parts."""
    return PathDetail(summarize(path), read_path(path), [summarize(part) for part in list_parts(path)])


def as_json(value: Any) -> Any:
    """A view as JSON values, with the defaults of documents left out."""
    return msgspec.to_builtins(value)
