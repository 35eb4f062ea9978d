"""Texts of error patterns, and vectors for the texts of every kind.

The rows are the state: a pattern without an entry is read, an entry without a vector is embedded. A worker
that is killed goes on where it stopped. Nothing is embedded inside a transaction.
"""

from collections.abc import Callable

import numpy as np
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.utils import timezone

from memory.background.embedding import BATCH, DEADLINE_S, EmbeddingBacklog, batches
from memory.live.embedders import Embedder
from memory.models import ErrorPattern, Failure, TextEntry
from memory.queries.texts import text_entries
from memory.writer.texts import TextDraft, write_texts

PATTERN = "pattern"
CHUNK = 500
_backlog = EmbeddingBacklog("embedding-texts", "Texts")


def collect_pattern_texts() -> int:
    """Write the entries of patterns that have none; how many."""
    count = 0
    while patterns := list(_unwritten()[:CHUNK]):
        homes: dict[int, list[TextDraft]] = {}
        for pattern in patterns:
            homes.setdefault(pattern.workspace_id, []).append(pattern_draft(pattern))
        with transaction.atomic():
            for workspace_id, drafts in homes.items():
                write_texts(workspace_id, PATTERN, drafts)
        count += len(patterns)
    return count


def _unwritten() -> QuerySet[ErrorPattern]:
    entries = text_entries(PATTERN).filter(workspace=OuterRef("workspace"), subject=OuterRef("uuid"))
    newest = Failure.objects.filter(pattern=OuterRef("pk")).order_by("-pk").values("message")[:1]
    return ErrorPattern.objects.filter(~Exists(entries)).annotate(example=Subquery(newest)).order_by("pk")


def pattern_draft(pattern: ErrorPattern) -> TextDraft:
    """What a pattern is found by: its title, an example, the masked message, tool and error type."""
    example: str = getattr(pattern, "example", None) or ""
    parts = (pattern.title, example[:1_000], pattern.template[:1_000], pattern.error_type, pattern.tool)
    text = "\n".join(dict.fromkeys(part for part in parts if part))
    return TextDraft(pattern.uuid, pattern.title, text, pattern.first_seen_at)


def waiting_texts(name: str, workspace_id: int | None = None) -> QuerySet[TextEntry]:
    """Texts without a vector of the embedder of that name."""
    rows = TextEntry.objects.exclude(embedder=name)
    return rows if workspace_id is None else rows.filter(workspace_id=workspace_id)


def reindex_texts(
    embedder: Embedder,
    *,
    workspace_id: int | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> int:
    """Embed every text that has no vector of this embedder; how many.

    Raises :class:`memory.live.embedders.EmbedderError`; what was done stays.
    """
    count = 0
    for entries in batches(waiting_texts(embedder.name, workspace_id), BATCH):
        _embed(entries, embedder)
        count += len(entries)
        progress(len(entries))
    return count


def embed_texts(deadline_s: float = DEADLINE_S) -> int:
    """Embed texts that are new or changed, until none is left or the time is up; how many.

    Only those: another embedder's vectors are renewed by ``manage.py reindex``, when somebody wants it.
    """
    return _backlog.work_off(TextEntry.objects.filter(embedder=""), _embed, deadline_s)


def _embed(entries: list[TextEntry], embedder: Embedder) -> None:
    """A text that changed meanwhile keeps waiting: its digest is another."""
    vectors = embedder.embed_passages([entry.text for entry in entries])
    now = timezone.now()
    with transaction.atomic():
        rows = TextEntry.objects.select_for_update().filter(pk__in=[entry.pk for entry in entries])
        still = dict(rows.values_list("pk", "digest"))
        ready = [
            (entry, row)
            for entry, row in zip(entries, vectors, strict=True)
            if still.get(entry.pk) == entry.digest
        ]
        for entry, row in ready:
            entry.vector, entry.dims = np.asarray(row, dtype="<f4").tobytes(), embedder.dims
            entry.embedder, entry.written_at = embedder.name, now
        TextEntry.objects.bulk_update(
            [entry for entry, _ in ready], ["vector", "dims", "embedder", "written_at"]
        )
