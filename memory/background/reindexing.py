"""Making index entries anew: of paths that could not be embedded when they were written, or all of them.

The rows are the state: a path whose entry names another embedder (or another format of entries) waits. So a
run that is killed goes on where it stopped, and paths written meanwhile are simply not in the way.
"""

from collections.abc import Callable

import msgspec
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet

from memory.background.embedding import BATCH, DEADLINE_S, EmbeddingBacklog, batches
from memory.live.embedders import Embedder
from memory.live.index import embed_documents, entry_name
from memory.models import Path, PathEntry
from memory.queries.path_documents import read_paths
from memory.writer.entries import EntryDraft, write_entries
from memory.writer.vectors import TABLE, are_kept, index_statements

_backlog = EmbeddingBacklog("embedding", "Paths")


class Reindex(msgspec.Struct, frozen=True):
    """What a reindex has to do: the name that entries will have, the paths that wait."""

    name: str
    waiting: int


def plan_reindex(embedder: Embedder, workspace_id: int | None = None) -> Reindex:
    """How many paths of a workspace (or of all) have no entry of this embedder yet."""
    name = entry_name(embedder)
    return Reindex(name, waiting_paths(name, workspace_id).count())


def reindex(
    embedder: Embedder,
    *,
    workspace_id: int | None = None,
    batch: int = BATCH,
    progress: Callable[[int], None] = lambda done: None,
) -> int:
    """Make the entries that wait, oldest path first; how many. ``progress`` is told the size of each batch.

    A batch is committed at a time and nothing is embedded inside a transaction. Until a path's turn comes its
    earlier vectors go on serving. Raises :class:`memory.live.embedders.EmbedderError`; what was done stays.
    """
    make_search_indexes(embedder)
    count = 0
    for paths in batches(waiting_paths(entry_name(embedder), workspace_id), batch):
        _renew(paths, embedder)
        count += len(paths)
        progress(len(paths))
    if count and are_kept():
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {TABLE}")  # the planner's estimate decides how vectors are searched
    return count


def embed_backlog(deadline_s: float = DEADLINE_S) -> int:
    """Embed paths that were stored without vectors, until none is left or the time is up; how many.

    Only those: another embedder's vectors are renewed by ``manage.py reindex``, when somebody wants it.
    """
    return _backlog.work_off(Path.objects.filter(entry__embedder=""), _renew, deadline_s)


def waiting_paths(name: str, workspace_id: int | None = None) -> QuerySet[Path]:
    """Paths that have no entry of that name."""
    paths = Path.objects.all() if workspace_id is None else Path.objects.filter(workspace=workspace_id)
    return paths.filter(~Exists(PathEntry.objects.filter(path=OuterRef("pk"), embedder=name)))


def make_search_indexes(embedder: Embedder) -> None:
    """On PostgreSQL, the vector indexes of this embedder, beside running writers. Outside a transaction."""
    if are_kept() and not connection.in_atomic_block:
        with connection.cursor() as cursor:
            for statement in index_statements(entry_name(embedder), embedder.dims, concurrently=True):
                cursor.execute(statement)


def _renew(paths: list[Path], embedder: Embedder) -> None:
    drafts = embed_documents(read_paths(paths), embedder)
    with transaction.atomic():
        there = set(Path.objects.filter(pk__in=[path.pk for path in paths]).values_list("pk", flat=True))
        homes: dict[int, dict[int, EntryDraft]] = {}
        for path, draft in zip(paths, drafts, strict=True):
            if path.pk in there:
                homes.setdefault(path.workspace_id, {})[path.pk] = draft
        for workspace_id, entries in homes.items():
            write_entries(workspace_id, entries)
