"""Errors before and after a rule: a comparison in time, not an experiment."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db.models import F, Min, Prefetch, Q, QuerySet

from corrections.models import Canary, Rule
from memory.domain.trends import Rate, rate_of
from memory.queries.insights_repeats import calls_by_hour, failures_by_hour

SIDE = timedelta(days=30)
"""How far a comparison looks back and ahead."""
LISTED = 20


@dataclass(frozen=True)
class Change:
    """Failures of a rule's error patterns per call of their tools, ``SIDE`` before and after it was served.

    The hour in which a version of it was first served counts for neither. ``canary`` is the uuid of its
    newest canary, the better evidence, or blank.
    """

    rule: Rule
    tools: tuple[str, ...]
    served_at: datetime
    before: Rate
    after: Rate
    canary: str

    @property
    def is_known(self) -> bool:
        """Whether both sides have enough calls."""
        return self.before.is_known and self.after.is_known


def list_changes(workspace_id: int, *, tool: str = "", limit: int = LISTED) -> list[Change]:
    """Rules that are linked to error patterns and were served, the newest first. Five queries."""
    rules = list(_rules(workspace_id, tool)[:limit])
    if not rules:
        return []
    served = {rule.pk: _hour(rule.first_served_at) for rule in rules}  # type: ignore[attr-defined]
    patterns = {rule.pk: list(rule.patterns.all()) for rule in rules}
    since = min(served.values()) - SIDE
    tools = {pattern.tool for found in patterns.values() for pattern in found}
    calls = calls_by_hour(workspace_id, tools=tools, since=since)
    wanted = {pattern.pk for found in patterns.values() for pattern in found}
    failures = failures_by_hour(workspace_id, patterns=wanted, since=since)
    changes = []
    for rule in rules:
        mine = {pattern.pk for pattern in patterns[rule.pk]}
        where = {pattern.tool for pattern in patterns[rule.pk]}
        at = served[rule.pk]
        sides = [
            _side(calls.items(), where, failures.items(), mine, start, end)
            for start, end in ((at - SIDE, at), (at + timedelta(hours=1), at + SIDE))
        ]
        canary = next(iter(rule.canaries.all()), None)
        changes.append(
            Change(rule, tuple(sorted(where)), at, sides[0], sides[1], str(canary.uuid) if canary else "")
        )
    return changes


def _rules(workspace_id: int, tool: str) -> QuerySet[Rule]:
    published = Q(changes__kind__in=("create", "edit", "enable"), changes__published_at__isnull=False)
    rows = Rule.objects.filter(workspace=workspace_id, patterns__isnull=False)
    rows = rows.filter(patterns__tool=tool) if tool else rows
    found = rows.alias(served=Min("changes__published_at", filter=published)).filter(served__isnull=False)
    moments = found.annotate(first_served_at=F("served")).order_by("-served", "-pk")
    newest = Canary.objects.only("uuid", "rule").order_by("-pk")
    return moments.prefetch_related("patterns", Prefetch("canaries", newest))


def _side(
    calls: Iterable[tuple[tuple[str, datetime], int]], tools: Collection[str],
    failures: Iterable[tuple[tuple[int, datetime], int]], patterns: Collection[int],
    start: datetime, end: datetime,
) -> Rate:  # fmt: skip
    made = sum(count for (tool, hour), count in calls if tool in tools and start <= hour < end)
    failed = sum(count for (pattern, hour), count in failures if pattern in patterns and start <= hour < end)
    return rate_of(min(failed, made), made)


def _hour(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
