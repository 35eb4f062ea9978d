"""``similar_to``: each new pattern is compared once with the others of its workspace."""

from django.db import transaction
from django.utils import timezone

from memory.background.turns import turn
from memory.domain.patterns import PatternKey
from memory.domain.similarity import similar_to
from memory.models import ErrorPattern, PatternLink

BATCH = 50


def link_patterns() -> int:
    """Link the patterns that were not compared yet; how many were. Re-runnable: links are kept once."""
    count = 0
    with turn("linking") as mine:
        while mine and (rows := list(ErrorPattern.objects.filter(linked_at=None).order_by("id")[:BATCH])):
            links = [link for workspace in _by_workspace(rows) for link in _find_links(workspace)]
            _write(rows, links)
            count += len(rows)
    return count


@transaction.atomic
def _write(rows: list[ErrorPattern], links: list[PatternLink]) -> None:
    """The patterns are locked first, in the order in which the analysis locks them.

    An ``UPDATE`` or the check of a foreign key would take them in the order of the table.
    """
    patterns = {row.pk for row in rows}
    ErrorPattern.objects.lock_in_order(patterns.union(*((link.pattern_id, link.other_id) for link in links)))
    PatternLink.objects.bulk_create(links, ignore_conflicts=True)
    ErrorPattern.objects.filter(pk__in=patterns).update(linked_at=timezone.now())


def _by_workspace(rows: list[ErrorPattern]) -> list[list[ErrorPattern]]:
    groups: dict[int, list[ErrorPattern]] = {}
    for row in rows:
        groups.setdefault(row.workspace_id, []).append(row)
    return list(groups.values())


def _find_links(rows: list[ErrorPattern]) -> list[PatternLink]:
    """Links of these patterns of one workspace, in one order (two workers must not wait for each other)."""
    everyone = list(ErrorPattern.objects.filter(workspace_id=rows[0].workspace_id))
    keys = {row.fingerprint: _key(row) for row in everyone}
    ids = {row.fingerprint: row.pk for row in everyone}
    links = {}
    for row in rows:
        for other in similar_to(keys[row.fingerprint], keys.values()):
            low, high = sorted((row.pk, ids[other.fingerprint]))
            links[low, high] = PatternLink(pattern_id=low, other_id=high, similarity=other.score)
    return [links[pair] for pair in sorted(links)]


def _key(row: ErrorPattern) -> PatternKey:
    return PatternKey(
        tool=row.tool,
        error_type=row.error_type,
        template=row.template,
        identifier=row.identifier,
        scope=row.scope,
        fingerprint=row.fingerprint,
        title=row.title,
    )
