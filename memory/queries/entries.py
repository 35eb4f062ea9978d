"""Index rows of paths: what a process needs to follow them, and how far a reindex has come."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.db import connection
from django.db.models import Count, F, OuterRef, Q, Subquery

from memory.models import Localization, PathEntry, Workspace

BATCH = 1_000
MANY = 10_000
_decode_words = msgspec.json.Decoder(list[str]).decode

_NEWEST = "SELECT revision FROM memory_pathentry WHERE workspace_id = %s ORDER BY revision DESC LIMIT 1"
_STORED = """
    SELECT e.path_id, e.entry, p.tags, p.result, p.reward
    FROM memory_pathentry e JOIN memory_path p ON p.id = e.path_id WHERE e.path_id IN
"""
_AFTER = """
    SELECT e.path_id, e.revision, e.embedder, e.goal_vector, e.actions_vector, p.status, p.result, p.level,
           p.agent, p.created_at, p.tags, p.tools
    FROM memory_pathentry e JOIN memory_path p ON p.id = e.path_id
    WHERE e.workspace_id = %s AND e.revision > %s ORDER BY e.revision
"""


class FollowedRow(msgspec.Struct, frozen=True):
    """An entry with what is said about its path. Vectors are little-endian float32."""

    path_id: int
    revision: int
    embedder: str
    goal_vector: bytes
    actions_vector: bytes
    status: str
    result: str
    level: str
    agent: str
    walked_at: float
    tags: list[str]
    tools: list[str]


def newest_revision(workspace_id: int) -> int:
    """The highest revision of the workspace's entries, 0 without any. One step in an index."""
    with connection.cursor() as cursor:
        cursor.execute(_NEWEST, [workspace_id])
        row = cursor.fetchone()
    return int(row[0]) if row else 0


def rows_after(workspace_id: int, revision: int) -> Iterator[list[FollowedRow]]:
    """Entries with a higher revision, lowest first, in batches, from one moment of the database.

    It reads SQLite's own values: the ORM takes eight times as long for a hundred thousand rows.
    """
    with connection.cursor() as cursor:
        cursor.execute(_AFTER, [workspace_id, revision])
        while rows := cursor.fetchmany(BATCH):
            yield [_followed(row) for row in rows]


def path_ids_of(workspace_id: int) -> list[int]:
    """The paths that have an entry."""
    return list(PathEntry.objects.filter(workspace_id=workspace_id).values_list("path", flat=True))


def count_entries(workspace_id: int) -> int:
    """How many there are, from the index alone."""
    return PathEntry.objects.filter(workspace_id=workspace_id).count()


class StoredEntry(msgspec.Struct, frozen=True):
    """What a ranking is told of a path."""

    entry: bytes
    tags: list[str]
    result: str
    reward: float


def load_entries(path_ids: Sequence[int]) -> dict[int, StoredEntry]:
    """The entries of these paths, with what is said about them; a path that is gone is left out."""
    if not path_ids:
        return {}
    marks = ", ".join(["%s"] * len(path_ids))
    with connection.cursor() as cursor:
        cursor.execute(f"{_STORED} ({marks})", path_ids)
        rows = cursor.fetchall()
    return {path_id: StoredEntry(bytes(entry), _words(tags), *rest) for path_id, entry, tags, *rest in rows}


def list_recently_asked(since: datetime) -> list[int]:
    """Workspaces in which a path was looked for since then. One step in an index for each workspace."""
    newest = Localization.objects.filter(workspace=OuterRef("pk")).order_by("-id").values("asked_at")[:1]
    asked = Workspace.objects.annotate(asked_at=Subquery(newest)).filter(asked_at__gte=since)
    return list(asked.order_by("asked_at").values_list("pk", flat=True))


def count_behind(name: str, workspace_id: int) -> int:
    """How many entries of a workspace are not of that name (counted up to ``MANY``).

    Written so that the planner starts from the index over names: few rows have another.
    """
    others = PathEntry.objects.filter(Q(embedder__lt=name) | Q(embedder__gt=name))
    return others.alias(home=F("workspace_id") + 0).filter(home=workspace_id).order_by()[:MANY].count()


def count_by_embedder(workspace_id: int | None = None) -> dict[str, int]:
    """How many paths each embedder has embedded, of a workspace or of all; "" for none."""
    entries = (
        PathEntry.objects.all()
        if workspace_id is None
        else PathEntry.objects.filter(workspace_id=workspace_id)
    )
    return dict(entries.order_by().values_list("embedder").annotate(count=Count("path")))


def _followed(row: Sequence[Any]) -> FollowedRow:
    path_id, revision, embedder, goal, actions, status, result, level, agent, created, tags, tools = row
    return FollowedRow(
        path_id, revision, embedder, goal, actions, status, result, level, agent, _seconds(created),
        _words(tags), _words(tools),
    )  # fmt: skip


def _words(stored: str) -> list[str]:
    """A JSON list as both databases hand it to a raw cursor."""
    return _decode_words(stored)


def _seconds(stored: datetime) -> float:
    """SQLite keeps times in UTC, without saying so."""
    return stored.replace(tzinfo=UTC).timestamp()
