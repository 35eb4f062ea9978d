"""Writing what the analysis found: exactly once, whoever else is at it.

A task's findings are written in the transaction that also moves its watermark, and only if its revision and
watermark are still those that were read. So a killed worker leaves either all of them or none, and of two
workers at one task only the first writes.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import uuid4

import msgspec
from django.db.models import F

from memory.background.loading import Claim
from memory.background.outcomes import mark_outcomes
from memory.background.patterns import PatternTally, tally_patterns
from memory.background.tools import update_tools
from memory.background.watching import note_news
from memory.domain.analysis import Analysis, Finding
from memory.models import DailyCount, Failure, PathBuild, Task, TaskInsight, Validator
from memory.writer.prepare import as_json
from memory.writer.tables import Row, Table, identifier, moment, update_rows

FAILURES = Table(
    Failure,
    (
        "uuid", "workspace", "task", "call", "pattern", "validator", "source", "detector", "error_type",
        "message", "http_status", "context", "repeat", "happened_at", "found_at",
    ),
)  # fmt: skip
PATH_BUILDS = Table(PathBuild, ("task", "wanted_revision", "built_revision", "error"))
TASK_INSIGHTS = Table(
    TaskInsight, ("task", "workspace", "wanted_revision", "counted_revision", "contribution", "error")
)
DAILY = Table(DailyCount, ("workspace", "day", "tool", "calls", "failures", "repeats"))


WHOLE_TASK = "task: "
"""Begins the reason why a task as a whole could not be analysed; it goes when it can."""

MAX_ERROR = 10_000


class Looked(msgspec.Struct, frozen=True):
    """A claimed task and what was found in it."""

    claim: Claim
    analysis: Analysis


def write_findings(looked: Sequence[Looked], now: datetime) -> int:
    """Write the findings of the tasks that are still as they were read; how many of them were.

    Call it inside a transaction.
    """
    held = _take(looked, now)
    if not held:
        return 0
    tallies = tally_patterns(
        [(item.claim, item.analysis.findings) for item in held if item.analysis.findings]
    )
    _write_failures(held, tallies, now)
    _count_days(held, tallies)
    update_tools(held_by_workspace(held))
    _count_unchecked(held)
    _want_paths_and_insights(held)
    looked_at = [item.claim.id for item in held]
    mark_outcomes(looked_at)
    note_news(looked_at)
    return len(held)


def _want_paths_and_insights(held: Sequence[Looked]) -> None:
    """A finished task that was looked at to its end has its paths built and is counted, at this revision."""
    whole = [item.claim.id for item in held if not item.claim.is_partial]
    rows = Task.objects.filter(pk__in=whole, final=True).order_by("id")
    final = list(rows.values_list("id", "workspace_id", "revision"))
    moved = "wanted_revision = excluded.wanted_revision"
    PATH_BUILDS.append_missing(
        [(task, revision, 0, "") for task, _home, revision in final], unique="task_id", update=moved
    )
    TASK_INSIGHTS.append_missing(
        [(task, home, revision, 0, b"", "") for task, home, revision in final], unique="task_id", update=moved
    )


def held_by_workspace(held: Sequence[Looked]) -> dict[int, list[Analysis]]:
    """The analyses, workspace by workspace."""
    groups: dict[int, list[Analysis]] = defaultdict(list)
    for item in held:
        groups[item.claim.workspace_id].append(item.analysis)
    return dict(sorted(groups.items()))


def _take(looked: Sequence[Looked], now: datetime) -> list[Looked]:
    """Compare and set: from here on the new calls of the tasks that are returned count as looked at.

    The rows are locked while they are compared, by the transaction on SQLite and one by one on PostgreSQL.
    """
    rows = Task.objects.filter(pk__in=[item.claim.id for item in looked], analysed_at=None)
    found = (
        rows.select_for_update()
        .order_by("id")
        .values_list("id", "revision", "analysed_call", "failure_count")
    )
    stored = {pk: rest for pk, *rest in found}
    held, updates = [], []
    for item in looked:
        claim, findings = item.claim, item.analysis.findings
        revision, watermark, count = stored.get(claim.id, (None, None, 0))
        if (revision, watermark) == (claim.revision, claim.watermark):
            at = None if claim.is_partial else moment(now)
            held.append(item)
            updates.append((at, claim.new_watermark, count + len(findings), _error_of(item), claim.id))
    update_rows(Task, ("analysed_at", "analysed_call", "failure_count", "analysis_error"), updates)
    return held


def _error_of(item: Looked) -> str:
    """What could not be read up to now; the reason for the whole task goes when the task was read."""
    kept = [line for line in item.claim.error.splitlines() if not line.startswith(WHOLE_TASK)]
    return "\n".join([*kept, *item.analysis.problems])[:MAX_ERROR]


def _write_failures(
    held: Sequence[Looked], tallies: dict[tuple[int, str], PatternTally], now: datetime
) -> None:
    at = moment(now)
    FAILURES.append(
        [
            _failure_row(
                item.claim, finding, tallies[item.claim.workspace_id, finding.pattern.fingerprint], at
            )
            for item in held
            for finding in item.analysis.findings
        ]
    )


def _failure_row(claim: Claim, finding: Finding, tally: PatternTally, at: object) -> Row:
    failure = finding.failure
    return (
        identifier(uuid4()), claim.workspace_id, claim.id, finding.call_id, tally.id, finding.validator_id,
        finding.source, finding.detector, failure.error_type[:200], failure.message, failure.http_status,
        as_json(finding.context), claim.id in tally.repeating, moment(finding.happened_at), at,
    )  # fmt: skip


def _count_days(held: Sequence[Looked], tallies: dict[tuple[int, str], PatternTally]) -> None:
    """Calls, failures and repeats by day and tool, and the failures that became repeats just now."""
    counts: dict[tuple[int, str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for item in held:
        workspace = item.claim.workspace_id
        for call in [*item.analysis.worked, *item.analysis.failed]:
            counts[workspace, day_of(call.happened_at), call.call.tool][0] += 1
        for finding in item.analysis.findings:
            row = counts[workspace, day_of(finding.happened_at), finding.pattern.tool]
            row[1] += 1
            tally = tallies[workspace, finding.pattern.fingerprint]
            row[2] += item.claim.id in tally.repeating
    for (workspace, _), tally in tallies.items():
        for happened_at in tally.turned:
            counts[workspace, day_of(happened_at), tally.tool][2] += 1
    DAILY.append_missing(
        [(*key, *row) for key, row in sorted(counts.items())],
        unique="workspace_id, day, tool",
        update=", ".join(f"{name} = {DAILY.name}.{name} + excluded.{name}" for name in DAILY.names[3:]),
    )


def day_of(happened_at: datetime) -> str:
    """The UTC day of a moment."""
    return happened_at.astimezone(UTC).date().isoformat()


def _count_unchecked(held: Sequence[Looked]) -> None:
    """Validators that could not be evaluated: on their row, never in a failure."""
    reasons: dict[int, tuple[int, str]] = {}
    for item in held:
        for validator, reason in item.analysis.unchecked.items():
            reasons[validator] = (reasons.get(validator, (0, ""))[0] + 1, reason)
    for validator, (count, reason) in sorted(reasons.items()):
        Validator.objects.filter(pk=validator).update(error_count=F("error_count") + count, last_error=reason)
