"""The index row of a path, written in the path's own transaction on both databases.

On SQLite the vectors are bytes in the row, and every process follows ``revision`` with its index in memory.
On PostgreSQL they are in ``memory_pathvector``, beside copies of the columns that a search filters by.
"""

from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec

from memory.models import PathEntry
from memory.writer import vectors

Item = TypeVar("Item")

CHUNK = 400  # rows of a statement: far below both databases' limits


class EntryRow(msgspec.Struct, frozen=True, kw_only=True):
    """What one path is found by.

    ``goal_vector`` and ``actions_vector`` are little-endian float32 unit vectors of ``embedder``, of the same
    length. All three are empty where nothing could be embedded; ``reindex`` finds such rows.
    """

    path_id: int
    entry: bytes
    embedder: str = ""
    goal_vector: bytes = b""
    actions_vector: bytes = b""

    @property
    def dims(self) -> int:
        """Numbers in each vector."""
        return len(self.goal_vector) // 4


def write_entries(workspace_id: int, rows: Sequence[EntryRow]) -> None:
    """Write the entries of these paths, or replace them. Call it where the paths are written.

    Raises ValueError for vectors of unequal or broken length, IntegrityError for a path that is not there.
    """
    if not rows:
        return
    for row in rows:
        if len(row.goal_vector) != len(row.actions_vector) or len(row.goal_vector) % 4:
            raise ValueError(f"path {row.path_id}: the two vectors must be of one length, in float32")
    keeps_bytes = not vectors.are_kept()
    revision = _next_revision(workspace_id)
    for chunk in _chunks(rows):
        PathEntry.objects.bulk_create(
            [
                PathEntry(
                    path_id=row.path_id,
                    workspace_id=workspace_id,
                    embedder=row.embedder,
                    dims=row.dims,
                    entry=row.entry,
                    goal_vector=row.goal_vector if keeps_bytes else b"",
                    actions_vector=row.actions_vector if keeps_bytes else b"",
                    revision=revision,
                )
                for row in chunk
            ],
            update_conflicts=True,
            unique_fields=["path"],
            update_fields=["embedder", "dims", "entry", "goal_vector", "actions_vector", "revision"],
        )
    if not keeps_bytes:
        vectors.write_vectors(
            [(row.path_id, row.embedder, row.goal_vector, row.actions_vector) for row in rows]
        )


def touch_entries(workspace_id: int, path_ids: Iterable[int]) -> None:
    """Say that status, result, reward or tags of these paths changed. Call it where they change."""
    ids = list(path_ids)
    if not ids:
        return
    revision = _next_revision(workspace_id)
    for chunk in _chunks(ids):
        PathEntry.objects.filter(workspace_id=workspace_id, path__in=chunk).update(revision=revision)
    if vectors.are_kept():
        vectors.copy_columns(ids)


def _next_revision(workspace_id: int) -> int:
    """One more than any in the workspace.

    SQLite lets one transaction write at a time, so revisions appear in order and a follower that has seen
    this one has seen all before it. On PostgreSQL nobody follows them.
    """
    newest = (
        PathEntry.objects.filter(workspace_id=workspace_id)
        .order_by("-revision")
        .values_list("revision", flat=True)
        .first()
    )
    return (newest or 0) + 1


def _chunks(items: Sequence[Item]) -> Iterable[Sequence[Item]]:
    return (items[start : start + CHUNK] for start in range(0, len(items), CHUNK))
