"""The search for weak spots: load a snapshot, find communities, keep the identity of those known before."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Q, Sum
from django.utils import timezone

from memory.domain.analysis import TASK_LEVEL
from memory.domain.graphs.weak_spots import (
    QUIET,
    Spot,
    SpotEdge,
    SpotPattern,
    find_weak_spots,
    identifier_edges,
    same_spots,
)
from memory.domain.insights.bursts import burst_hours, coincidences
from memory.domain.insights.failure_hours import hour_of
from memory.models import (
    ErrorPattern,
    PatternHour,
    PatternLink,
    ToolHour,
    WeakSpot,
    WeakSpotMember,
    WeakSpotScan,
    Workspace,
)

HEAVIEST, NEWEST = 1_500, 500
"""Patterns that are looked at: the most frequent ones, and the ones seen last."""
WINDOW_HOURS = 90 * 24
MOST_HOURS = 200_000
LATELY_HOURS = 7 * 24
EVERY = timedelta(minutes=5)
ANYWAY = timedelta(hours=6)
LEASE = timedelta(minutes=5)
KEPT_HOURS = 60
KEPT_RESOLVED = 500
PATTERN_FIELDS = (
    "pk", "uuid", "tool", "title", "identifier", "scope", "occurrence_count", "first_seen_at", "last_seen_at",
)  # fmt: skip


@dataclass
class Snapshot:
    """What a search looks at."""

    patterns: dict[int, dict[str, Any]]
    left_out: int
    links: list[SpotEdge]
    failures: dict[int, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    calls: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))

    @property
    def active(self) -> set[int]:
        """The hours in which anything was called."""
        return {hour for hours in self.calls.values() for hour in hours}


def find_spots(now: datetime | None = None) -> int:
    """Search every workspace that is due, one process at each; how many were searched."""
    at = now or timezone.now()
    count = 0
    with_patterns = ErrorPattern.objects.order_by().values("workspace").distinct()
    for workspace in Workspace.objects.filter(pk__in=with_patterns).order_by("pk"):
        scan, _ = WeakSpotScan.objects.get_or_create(workspace=workspace)
        if _is_due(scan, at) and _lease(scan, at):
            search(workspace.pk, now=at)
            count += 1
    return count


def _is_due(scan: WeakSpotScan, now: datetime) -> bool:
    if scan.scanned_at is None or scan.scanned_at <= now - ANYWAY:
        return True
    return scan.scanned_at <= now - EVERY and scan.seen != _seen(scan.workspace_id)


def _lease(scan: WeakSpotScan, now: datetime) -> bool:
    free = WeakSpotScan.objects.filter(Q(leased_until=None) | Q(leased_until__lte=now), pk=scan.pk)
    return free.update(leased_until=now + LEASE) == 1


def _seen(workspace_id: int) -> str:
    """What the patterns say: changes with every failure, every look for similar ones, every counted hour."""
    rows = ErrorPattern.objects.filter(workspace=workspace_id)
    sums = rows.aggregate(n=Count("pk"), linked=Count("linked_at"), failures=Sum("occurrence_count"))
    newest = ToolHour.objects.filter(workspace=workspace_id).order_by("-hour", "tool").first()
    counted = f"{newest.hour}:{newest.calls}" if newest else ""
    return f"{sums['n']}:{sums['linked']}:{sums['failures']}:{counted}"


def search(workspace_id: int, *, now: datetime) -> list[Spot]:
    """Find the weak spots of a workspace and store them."""
    seen = _seen(workspace_id)
    snapshot = load_snapshot(workspace_id)
    spots = spots_of(snapshot)
    with transaction.atomic():
        Workspace.objects.select_for_update().get(pk=workspace_id)
        _store(workspace_id, spots, snapshot, now)
        WeakSpotScan.objects.update_or_create(
            workspace_id=workspace_id,
            defaults={
                "leased_until": None, "scanned_at": now, "seen": seen, "patterns": len(snapshot.patterns),
                "left_out": snapshot.left_out, "active_hours": len(snapshot.active),
            },
        )  # fmt: skip
    return spots


def load_snapshot(workspace_id: int) -> Snapshot:
    """The patterns with their links and hours. A handful of queries, each bounded."""
    rows = ErrorPattern.objects.filter(workspace=workspace_id).exclude(status="ignored")
    rows = rows.exclude(tool=TASK_LEVEL)
    patterns = {
        row["pk"]: row for row in rows.order_by("-occurrence_count")[:HEAVIEST].values(*PATTERN_FIELDS)
    }
    for row in rows.order_by("-last_seen_at")[:NEWEST].values(*PATTERN_FIELDS):
        patterns.setdefault(row["pk"], row)
    links = PatternLink.objects.filter(pattern__in=list(patterns)).order_by("pk")
    edges = [
        SpotEdge(one, other, "alike", similarity)
        for one, other, similarity in links.values_list("pattern", "other", "similarity")
        if other in patterns
    ]
    snapshot = Snapshot(patterns, max(0, rows.count() - len(patterns)), edges)
    _load_hours(workspace_id, snapshot)
    return snapshot


def _load_hours(workspace_id: int, snapshot: Snapshot) -> None:
    calls = ToolHour.objects.filter(workspace=workspace_id, calls__gt=0).order_by("-hour")
    newest = calls.values_list("hour", flat=True).first() or 0
    since = max(0, newest - WINDOW_HOURS)
    for tool, hour, count in calls.filter(hour__gte=since).values_list("tool", "hour", "calls")[:MOST_HOURS]:
        snapshot.calls[tool][hour] = count
    failures = PatternHour.objects.filter(workspace=workspace_id, hour__gte=since, failures__gt=0)
    rows = failures.order_by("-hour").values_list("pattern", "hour", "failures")[:MOST_HOURS]
    for pattern, hour, count in rows:
        if pattern in snapshot.patterns:
            snapshot.failures[pattern][hour] = count


def spots_of(snapshot: Snapshot) -> list[Spot]:
    """The weak spots in a snapshot."""
    patterns = [
        SpotPattern(pk, row["tool"], row["occurrence_count"], row["identifier"], row["scope"])
        for pk, row in snapshot.patterns.items()
    ]
    tools = {pattern.id: pattern.tool for pattern in patterns}
    active = snapshot.active
    bursts = {
        pattern: burst_hours(hours, snapshot.calls.get(tools[pattern], {}), active)
        for pattern, hours in snapshot.failures.items()
    }
    together = [
        SpotEdge(found.one, found.other, "burst", found.share, hours=found.hours)
        for found in coincidences(bursts, tools, len(active))
    ]
    return find_weak_spots(patterns, [*snapshot.links, *identifier_edges(patterns), *together])


def _store(workspace_id: int, spots: Sequence[Spot], snapshot: Snapshot, now: datetime) -> None:
    known = {row.pk: row for row in WeakSpot.objects.filter(workspace=workspace_id)}
    members: dict[int, dict[int, WeakSpotMember]] = {pk: {} for pk in known}
    for member in WeakSpotMember.objects.filter(spot__in=list(known)).order_by("pk"):
        members[member.spot_id][member.pattern_id] = member
    same = same_spots({pk: frozenset(some) for pk, some in members.items()}, [spot.ids for spot in spots])
    rows = []
    for place, spot in enumerate(spots):
        row = known[same[place]] if place in same else WeakSpot(workspace_id=workspace_id, found_at=now)
        _fill(row, spot, snapshot, now)
        row.save()
        rows.append((row, spot))
    _store_members(rows, members)
    gone = [pk for pk, row in known.items() if pk not in same.values() and row.status == "open"]
    WeakSpot.objects.filter(pk__in=gone).update(status="resolved", why_resolved="apart", resolved_at=now)
    resolved = WeakSpot.objects.filter(workspace=workspace_id, status="resolved").order_by("-resolved_at")
    old = list(resolved.values_list("pk", flat=True)[KEPT_RESOLVED:])
    WeakSpot.objects.filter(pk__in=old).delete()


def _fill(row: WeakSpot, spot: Spot, snapshot: Snapshot, now: datetime) -> None:
    facts = [snapshot.patterns[pattern.id] for pattern in spot.patterns]
    row.title = facts[0]["title"]
    row.tools, row.tool_count = list(spot.tools), len(spot.tools)
    row.pattern_count, row.failures = len(spot.patterns), spot.failures
    row.lately = _lately(spot, snapshot.failures, now)
    row.bonds, row.words = dict(spot.bonds), list(spot.words)
    row.burst_hours = list(spot.hours[-KEPT_HOURS:])
    names = {pk: str(found["uuid"]) for pk, found in snapshot.patterns.items()}
    row.edges = [
        [names[edge.one], names[edge.other], edge.bond, round(edge.strength, 3), edge.word]
        for edge in spot.edges
    ]
    row.first_seen_at = min(found["first_seen_at"] for found in facts)
    row.last_seen_at = max(found["last_seen_at"] for found in facts)
    is_quiet = row.last_seen_at < now - QUIET
    if is_quiet and row.status != "resolved":
        row.resolved_at = now
    if not is_quiet:
        row.resolved_at = None
    row.status, row.why_resolved = ("resolved", "quiet") if is_quiet else ("open", "")


def _lately(spot: Spot, failures: Mapping[int, Mapping[int, int]], now: datetime) -> int:
    since = hour_of(now) - LATELY_HOURS
    return sum(
        count
        for pattern in spot.patterns
        for hour, count in failures.get(pattern.id, {}).items()
        if hour > since
    )


def _store_members(
    rows: Sequence[tuple[WeakSpot, Spot]], members: Mapping[int, Mapping[int, WeakSpotMember]]
) -> None:
    """The patterns of these spots, with their counts of now; three statements, however many spots."""
    fresh, stale, left = [], [], []
    for row, spot in rows:
        held = members.get(row.pk, {})
        left += [one.pk for pattern, one in held.items() if pattern not in spot.ids]
        for pattern in spot.patterns:
            one = held.get(pattern.id)
            if one is None:
                fresh.append(WeakSpotMember(spot=row, pattern_id=pattern.id, failures=pattern.failures))
            elif one.failures != pattern.failures:
                one.failures = pattern.failures
                stale.append(one)
    WeakSpotMember.objects.filter(pk__in=left).delete()
    WeakSpotMember.objects.bulk_update(stale, ["failures"], batch_size=200)
    WeakSpotMember.objects.bulk_create(fresh, batch_size=500)


def drop_old_hours(now: datetime | None = None) -> None:
    """Hours that no search reads any more."""
    before = hour_of(now or datetime.now(UTC)) - 4 * WINDOW_HOURS
    for rows in (PatternHour.objects, ToolHour.objects):
        rows.filter(hour__lt=before).delete()
