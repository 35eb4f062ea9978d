"""Error patterns: the list, and one pattern with its occurrences and its neighbours."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from memory.domain.analysis import TASK_LEVEL
from memory.models import ErrorPattern, Failure, PatternLink, Workspace
from memory.queries.paging import Page, most_first, newest_first

OCCURRENCES_PER_PAGE = 25


@dataclass(frozen=True)
class PatternFilters:
    """What the list is narrowed to, and its order: ``count`` or ``recent``."""

    status: str = ""
    tool: str = ""
    scope: str = ""
    text: str = ""
    order: str = "count"


def list_patterns(workspace: Workspace, filters: PatternFilters, cursor: str) -> Page[ErrorPattern]:
    """The most frequent or the most recent first."""
    rows = ErrorPattern.objects.filter(workspace=workspace)
    if filters.status:
        rows = rows.filter(status=filters.status)
    if filters.tool:
        rows = rows.filter(tool=filters.tool)
    if filters.scope:
        rows = rows.filter(scope__icontains=filters.scope)
    if filters.text:
        text = filters.text
        rows = rows.filter(
            Q(title__icontains=text) | Q(template__icontains=text) | Q(identifier__icontains=text)
        )
    field = "last_seen_at" if filters.order == "recent" else "occurrence_count"
    return most_first(rows, field, cursor)


def find_pattern_id(workspace_id: int, uuid: str) -> int:
    """The id of one error pattern of a workspace; -1 for none of that uuid."""
    try:
        found = ErrorPattern.objects.filter(workspace=workspace_id, uuid=UUID(uuid)).values_list(
            "pk", flat=True
        )
    except ValueError:
        return -1
    return found.first() or -1


def list_occurrences(pattern: ErrorPattern, cursor: str) -> Page[Failure]:
    """The failures of a pattern, newest first, with their task and call."""
    rows = Failure.objects.filter(pattern=pattern).select_related("task", "call")
    return newest_first(rows, cursor, size=OCCURRENCES_PER_PAGE)


@dataclass(frozen=True)
class SimilarPattern:
    """A neighbour and how near it is (0 to 1)."""

    pattern: ErrorPattern
    similarity: float


def list_similar(pattern: ErrorPattern, *, limit: int = 10) -> list[SimilarPattern]:
    """The nearest patterns, nearest first."""
    links = PatternLink.objects.filter(Q(pattern=pattern) | Q(other=pattern))
    nearest = links.select_related("pattern", "other").order_by("-similarity", "pk")[:limit]
    return [
        SimilarPattern(link.other if link.pattern_id == pattern.pk else link.pattern, link.similarity)
        for link in nearest
    ]


def list_uncovered(workspace: Workspace, *, limit: int = 8) -> list[ErrorPattern]:
    """The open patterns of tools that happen most: where a rule would help first.

    A task that failed as a whole is no place for a rule: it needs a validator or a judgement.
    """
    rows = ErrorPattern.objects.uncovered().filter(workspace=workspace).exclude(tool=TASK_LEVEL)
    return list(rows.order_by("-occurrence_count", "-pk")[:limit])


def find_pattern(workspace: Workspace, uuid: UUID) -> ErrorPattern | None:
    """The pattern, or None for an unknown or foreign one."""
    return ErrorPattern.objects.filter(workspace=workspace, uuid=uuid).first()
