"""The index row of a path, written in the path's own transaction on both databases.

On SQLite the vectors are bytes in the row, and every process follows ``revision`` with its index in memory.
On PostgreSQL they are in ``memory_pathvector``, beside copies of the columns that a search filters by.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec
from django.db import transaction

from memory.domain.locating.entries import encode_entry, entry_of
from memory.domain.paths.document import PathDoc
from memory.models import PathEntry
from memory.writer import vectors

Item = TypeVar("Item")

CHUNK = 400  # rows of a statement: far below both databases' limits


class EntryDraft(msgspec.Struct, frozen=True, kw_only=True):
    """What one path is found by, before it is stored.

    ``goal_vector`` and ``actions_vector`` are little-endian float32 unit vectors of ``embedder``, of the same
    length. All three are empty where nothing was embedded; then the background embeds it later.
    """

    entry: bytes
    embedder: str = ""
    goal_vector: bytes = b""
    actions_vector: bytes = b""

    @property
    def dims(self) -> int:
        """Numbers in each vector."""
        return len(self.goal_vector) // 4


def bare_draft(doc: PathDoc) -> EntryDraft:
    """The entry of a document that was not embedded."""
    return EntryDraft(entry=encode_entry(entry_of(doc)))


def write_entries(workspace_id: int, drafts: Mapping[int, EntryDraft]) -> None:
    """Write the entries of these paths (by id), or replace them. Call it where the paths are written.

    Raises ValueError for vectors of unequal or broken length, IntegrityError for a path that is not there.
    """
    if not drafts:
        return
    for path_id, draft in drafts.items():
        if len(draft.goal_vector) != len(draft.actions_vector) or len(draft.goal_vector) % 4:
            raise ValueError(f"path {path_id}: the two vectors must be of one length, in float32")
    with transaction.atomic(savepoint=False):  # of its own where the caller has none: see _next_revision
        _write(workspace_id, dict(sorted(drafts.items())))


def touch_entries(workspace_id: int, path_ids: Iterable[int]) -> None:
    """Say that status or result of these paths changed. Call it where they change."""
    ids = list(path_ids)
    if not ids:
        return
    if vectors.are_kept():
        vectors.copy_columns(ids)
        return
    with transaction.atomic(savepoint=False):
        revision = _next_revision(workspace_id)
        for chunk in _chunks(ids):
            PathEntry.objects.filter(workspace_id=workspace_id, path__in=chunk).update(revision=revision)


def _write(workspace_id: int, drafts: Mapping[int, EntryDraft]) -> None:
    apart = vectors.are_kept()
    revision = _next_revision(workspace_id)
    rows = [
        PathEntry(
            path_id=path_id,
            workspace_id=workspace_id,
            embedder=draft.embedder,
            dims=draft.dims,
            entry=draft.entry,
            goal_vector=b"" if apart else draft.goal_vector,
            actions_vector=b"" if apart else draft.actions_vector,
            revision=revision,
        )
        for path_id, draft in drafts.items()
    ]
    for chunk in _chunks(rows):
        PathEntry.objects.bulk_create(
            chunk,
            update_conflicts=True,
            unique_fields=["path"],
            update_fields=["embedder", "dims", "entry", "goal_vector", "actions_vector", "revision"],
        )
    if apart:
        vectors.write_vectors(
            (path_id, draft.embedder, draft.goal_vector, draft.actions_vector)
            for path_id, draft in drafts.items()
        )


def _next_revision(workspace_id: int) -> int:
    """Higher than any in the workspace, also than those of rows that were deleted: the time in microseconds.

    Inside a transaction, and SQLite lets one write at a time: so revisions appear in order and a follower
    that has seen this one has seen all before it. On PostgreSQL nobody follows them.
    """
    newest = (
        PathEntry.objects.filter(workspace_id=workspace_id)
        .order_by("-revision")
        .values_list("revision", flat=True)
        .first()
    )
    return max((newest or 0) + 1, time.time_ns() // 1_000)


def _chunks(items: Sequence[Item]) -> Iterable[Sequence[Item]]:
    return (items[start : start + CHUNK] for start in range(0, len(items), CHUNK))
