"""Error patterns: found or made, counted exactly, and which tasks repeat them."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from uuid import uuid4

import msgspec
from django.db.models import QuerySet

from memory.background.loading import Claim
from memory.domain.analysis import Finding
from memory.domain.patterns import PatternKey
from memory.models import ErrorPattern, Failure, TaskInsight
from memory.writer.tables import Row, Table, identifier, moment, update_rows

PATTERNS = Table(
    ErrorPattern,
    (
        "uuid", "workspace", "fingerprint", "tool", "error_type", "template", "identifier", "scope", "title",
        "status", "occurrence_count", "task_count", "first_seen_at", "last_seen_at", "first_task",
        "linked_at",
    ),
)  # fmt: skip
COUNTED = ("first_task", "task_count", "occurrence_count", "first_seen_at", "last_seen_at")


class PatternTally(msgspec.Struct):
    """A pattern's row, and what a batch does to it.

    ``repeating``: tasks of the batch that were not the first to make this mistake. ``turned``: when those
    failures happened that became repeats now, because an earlier task turned out to have made it first.
    """

    id: int
    tool: str
    repeating: set[int] = set()
    turned: list[datetime] = []


def tally_patterns(
    found: Sequence[tuple[Claim, list[Finding]]],
) -> dict[tuple[int, str], PatternTally]:
    """Make, lock and count the patterns of a batch, by workspace and fingerprint. Inside a transaction."""
    uses: dict[tuple[int, str], list[tuple[Claim, Finding]]] = defaultdict(list)
    for claim, findings in found:
        for finding in findings:
            uses[claim.workspace_id, finding.pattern.fingerprint].append((claim, finding))
    tallies: dict[tuple[int, str], PatternTally] = {}
    for workspace in sorted({workspace for workspace, _ in uses}):
        mine = {fingerprint: use for (owner, fingerprint), use in sorted(uses.items()) if owner == workspace}
        rows = list(_lock_rows(workspace, mine))
        for row in rows:
            tallies[workspace, row.fingerprint] = _count(row, mine[row.fingerprint])
        update_rows(ErrorPattern, COUNTED, [_counts(row) for row in rows])
    return tallies


def _counts(row: ErrorPattern) -> Row:
    """The values of ``COUNTED`` and the id."""
    return (
        *(row.first_task_id, row.task_count, row.occurrence_count),
        *(moment(row.first_seen_at), moment(row.last_seen_at), row.pk),
    )


def _lock_rows(
    workspace: int, uses: dict[str, list[tuple[Claim, Finding]]]
) -> QuerySet[ErrorPattern] | list[ErrorPattern]:
    """The rows in one order for every worker, so that two of them cannot wait for each other for long."""
    rows = ErrorPattern.objects.filter(workspace_id=workspace, fingerprint__in=list(uses))
    known = set(rows.values_list("fingerprint", flat=True))
    PATTERNS.append_missing(
        [
            _row(workspace, use[0][1].pattern, min(finding.happened_at for _, finding in use))
            for fingerprint, use in uses.items()
            if fingerprint not in known
        ],
        unique="workspace_id, fingerprint",
    )
    return rows.select_for_update(no_key=True).order_by("id")


def _row(workspace: int, key: PatternKey, seen_at: datetime) -> tuple[object, ...]:
    return (
        identifier(uuid4()), workspace, key.fingerprint, key.tool, key.error_type[:200], key.template,
        key.identifier, key.scope, key.title, "open", 0, 0, moment(seen_at), moment(seen_at), None, None,
    )  # fmt: skip


def _count(row: ErrorPattern, uses: list[tuple[Claim, Finding]]) -> PatternTally:
    tally = PatternTally(id=row.pk, tool=row.tool, repeating=set(), turned=[])
    tasks = sorted({claim.id for claim, _ in uses})
    first = row.first_task_id
    if first is None or tasks[0] < first:
        if first is not None:
            tally.turned = _turn_into_repeats(row, first)
        first = row.first_task_id = tasks[0]
    tally.repeating = {task for task in tasks if task != first}
    row.task_count += len(tasks) - _count_known(row, uses)
    row.occurrence_count += len(uses)
    moments = [finding.happened_at for _, finding in uses]
    row.first_seen_at = min(row.first_seen_at, *moments)
    row.last_seen_at = max(row.last_seen_at, *moments)
    return tally


def _turn_into_repeats(row: ErrorPattern, task: int) -> list[datetime]:
    """The failures of the task that was thought to be the first. Its insights are to be counted again."""
    failures = Failure.objects.filter(pattern=row, task=task, repeat=False)
    happened = list(failures.values_list("happened_at", flat=True))
    failures.update(repeat=True)
    TaskInsight.objects.filter(task=task).update(counted_revision=0)
    return happened


def _count_known(row: ErrorPattern, uses: list[tuple[Claim, Finding]]) -> int:
    """Tasks of the batch that are counted already, because an earlier part of them made the mistake."""
    again = {claim.id for claim, _ in uses if claim.known}
    if not again:
        return 0
    return Failure.objects.filter(pattern=row, task__in=again).values("task").distinct().count()
