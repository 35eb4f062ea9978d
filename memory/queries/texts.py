"""Texts that people search by meaning."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db.models import QuerySet

from memory.models import ErrorPattern, TextEntry


class TextRow(NamedTuple):
    """One text as an index keeps it. ``vector`` is null until it is embedded."""

    kind: str
    subject: UUID
    title: str
    text: str
    embedder: str
    vector: bytes | None
    written_at: datetime


def text_entries(kind: str) -> QuerySet[TextEntry]:
    """All entries of a kind: another room asks with it which of its rows have none that is new enough."""
    return TextEntry.objects.filter(kind=kind)


def read_texts(workspace_id: int, *, since: datetime | None = None) -> Iterator[TextRow]:
    """The workspace's texts, or those that were written from a moment on."""
    rows = TextEntry.objects.filter(workspace_id=workspace_id)
    if since is not None:
        rows = rows.filter(written_at__gte=since)
    for row in rows.values_list(*TextRow._fields).iterator(chunk_size=5_000):
        yield TextRow(*row)


def patterns_by_uuid(workspace_id: int, uuids: list[UUID]) -> dict[UUID, ErrorPattern]:
    """The workspace's patterns with these uuids."""
    rows = ErrorPattern.objects.filter(workspace_id=workspace_id, uuid__in=uuids)
    return {pattern.uuid: pattern for pattern in rows}
