"""Errors before and after a rule: a comparison in time, not an experiment."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import F, Min, Prefetch, Q, QuerySet

from corrections.models import Canary, Rule
from memory.domain.insights.failure_hours import hour_of
from memory.domain.trends import Rate, rate_of
from memory.queries.insights_repeats import calls_by_hour, failures_by_hour

SIDE_HOURS = 30 * 24
"""How far a comparison looks back and ahead."""
LISTED = 20
Calls = Mapping[str, Mapping[int, int]]
Failures = Mapping[int, Mapping[int, int]]


@dataclass(frozen=True)
class Change:
    """Failures of a rule's error patterns per call of their tools, 30 days before and after it was served.

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
    served = {rule.pk: hour_of(rule.first_served_at) for rule in rules}  # type: ignore[attr-defined]
    hours = range(min(served.values()) - SIDE_HOURS, max(served.values()) + SIDE_HOURS + 1)
    patterns = {pattern.pk: pattern.tool for rule in rules for pattern in rule.patterns.all()}
    calls = calls_by_hour(workspace_id, tools=set(patterns.values()), hours=hours)
    failures = failures_by_hour(workspace_id, patterns=patterns, hours=hours)
    return [_change(rule, served[rule.pk], calls, failures) for rule in rules]


def _change(rule: Rule, at: int, calls: Calls, failures: Failures) -> Change:
    tools = {pattern.tool for pattern in rule.patterns.all()}
    patterns = {pattern.pk for pattern in rule.patterns.all()}
    before, after = range(at - SIDE_HOURS, at), range(at + 1, at + SIDE_HOURS + 1)
    sides = []
    for hours in (before, after):
        made, failed = _sum(calls, tools, hours), _sum(failures, patterns, hours)
        sides.append(rate_of(min(failed, made), made))
    canary = max(rule.canaries.all(), key=lambda row: row.pk, default=None)
    return Change(
        rule, tuple(sorted(tools)), datetime.fromtimestamp(at * 3600, UTC), sides[0], sides[1],
        str(canary.uuid) if canary else "",
    )  # fmt: skip


def _rules(workspace_id: int, tool: str) -> QuerySet[Rule]:
    published = Q(changes__kind__in=("create", "edit", "enable"), changes__published_at__isnull=False)
    rows = Rule.objects.filter(workspace=workspace_id, patterns__isnull=False)
    rows = rows.filter(patterns__tool=tool) if tool else rows
    found = rows.alias(served=Min("changes__published_at", filter=published)).filter(served__isnull=False)
    moments = found.annotate(first_served_at=F("served")).order_by("-served", "-pk")
    return moments.prefetch_related("patterns", Prefetch("canaries", Canary.objects.only("uuid", "rule")))


def _sum(counts: Mapping[Any, Mapping[int, int]], owners: Iterable[Any], hours: range) -> int:
    return sum(count for owner in owners for hour, count in counts.get(owner, {}).items() if hour in hours)
