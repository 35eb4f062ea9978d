"""Reads of error patterns for other rooms."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from memory.models import ErrorPattern


def pattern_ids_of(workspace_id: int, uuids: Iterable[str | UUID]) -> list[int]:
    """Ids of the workspace's patterns with these uuids. Unknown and foreign ones are left out."""
    known = [uuid for uuid in (_as_uuid(text) for text in uuids) if uuid is not None]
    rows = ErrorPattern.objects.filter(workspace_id=workspace_id, uuid__in=known)
    return list(rows.values_list("pk", flat=True))


def titles_of(pattern_ids: Iterable[int]) -> list[str]:
    """Titles of patterns, for people to read."""
    rows = ErrorPattern.objects.filter(pk__in=list(pattern_ids)).order_by("title")
    return list(rows.values_list("title", flat=True))


@dataclass(frozen=True)
class NamedPattern:
    """A pattern, for people to read."""

    uuid: UUID
    title: str
    status: str
    occurrence_count: int


def facts_of(pattern_ids: Iterable[int]) -> list[NamedPattern]:
    """These patterns, the most frequent first."""
    rows = ErrorPattern.objects.filter(pk__in=list(pattern_ids)).order_by("-occurrence_count", "pk")
    return [NamedPattern(*row) for row in rows.values_list("uuid", "title", "status", "occurrence_count")]


def _as_uuid(text: str | UUID) -> UUID | None:
    try:
        return text if isinstance(text, UUID) else UUID(text)
    except (ValueError, AttributeError):
        return None
