"""Conflicts and scans, for pages and API."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import BigIntegerField, Case, Count, ExpressionWrapper, F, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce

from corrections.models import Conflict, ConflictScan, Rule, RuleVersion
from memory.queries.paging import PAGE_SIZE, Page, read_number

VERDICTS = ("conflict", "not_proven")
PROVEN = 10**9
"""What a witness weighs in the order: more than any number of recorded calls."""
STATUSES = ("open", "ruled", "gone")


@dataclass(frozen=True)
class ConflictFilters:
    """What of the inbox is looked at. Empty means all, except that ``status`` has to be said."""

    status: str = "open"
    kind: str = ""
    verdict: str = ""
    tool: str = ""
    rule: UUID | None = None


def list_conflicts(workspace_id: int, filters: ConflictFilters) -> QuerySet[Conflict]:
    """What was found: proven ones first, the most frequent first, then the newest."""
    rows = Conflict.objects.filter(workspace_id=workspace_id).select_related("rule_a", "rule_b", "ruling")
    if filters.status:
        rows = rows.filter(status=filters.status)
    if filters.kind:
        rows = rows.filter(kind=filters.kind)
    if filters.verdict:
        rows = rows.filter(verdict=filters.verdict)
    if filters.tool:
        rows = rows.filter(tool=filters.tool)
    if filters.rule is not None:
        rows = rows.filter(Q(rule_a__uuid=filters.rule) | Q(rule_b__uuid=filters.rule))
    proven = Case(When(verdict="conflict", then=Value(PROVEN)), default=Value(0))
    often = Coalesce(F("frequency") + 1, Value(0))
    rank = ExpressionWrapper(proven + often, output_field=BigIntegerField())
    return rows.annotate(rank=rank).order_by("-rank", "-pk")


def page_of_conflicts(workspace_id: int, filters: ConflictFilters, cursor: str) -> Page[Conflict]:
    """One page of :func:`list_conflicts`. Cursor: ``rank~id``; anything else starts at the top."""
    rows = list_conflicts(workspace_id, filters)
    rank, last = (read_number(part) for part in cursor.partition("~")[::2])
    if rank is not None and last is not None:
        rows = rows.filter(Q(rank__lt=rank) | Q(rank=rank, pk__lt=last))
    found = list(rows[: PAGE_SIZE + 1])
    if len(found) <= PAGE_SIZE:
        return Page(found)
    end: Any = found[PAGE_SIZE - 1]
    return Page(found[:PAGE_SIZE], f"{end.rank}~{end.pk}")


def get_conflict(*, workspace_id: int, uuid: UUID) -> Conflict | None:
    """One finding of the workspace with its rules and their versions, or None."""
    rows = Conflict.objects.select_related(
        "workspace", "ruling", "rule_a__latest_version", "rule_a__live_version",
        "rule_b__latest_version", "rule_b__live_version",
    )  # fmt: skip
    return rows.filter(workspace_id=workspace_id, uuid=uuid).first()


def count_by_status(workspace_id: int) -> dict[str, int]:
    """How many findings are open, ruled and gone."""
    rows = Conflict.objects.filter(workspace_id=workspace_id).order_by()
    counts = dict(rows.values_list("status").annotate(n=Count("pk")))
    return {status: counts.get(status, 0) for status in STATUSES}


def list_tools(workspace_id: int) -> list[str]:
    """Tools with open findings."""
    rows = Conflict.objects.filter(workspace_id=workspace_id, status="open").order_by("tool")
    return list(rows.values_list("tool", flat=True).distinct()[:500])


def conflicts_of_rule(rule: Rule, limit: int = 20) -> list[Conflict]:
    """Open findings about a rule, as its page shows them."""
    filters = ConflictFilters(rule=rule.uuid)
    return list(list_conflicts(rule.workspace_id, filters)[:limit])


def latest_scan(workspace_id: int, rule: Rule | None = None) -> ConflictScan | None:
    """The newest scan of everything, or of one rule."""
    rows = ConflictScan.objects.filter(workspace_id=workspace_id, rule=rule)
    return rows.defer("plan").order_by("-pk").first()


def get_scan(*, workspace_id: int, uuid: UUID) -> ConflictScan | None:
    """One scan of the workspace, or None."""
    rows = ConflictScan.objects.filter(workspace_id=workspace_id, uuid=uuid).select_related("rule")
    return rows.defer("plan").first()


@dataclass(frozen=True)
class Side:
    """One rule of a finding, in the version it is about."""

    rule: Rule
    version: RuleVersion


def sides_of(conflict: Conflict) -> list[Side]:
    """Rule A, then rule B if there is one. A query for each."""
    pairs = [(conflict.rule_a, conflict.version_a)]
    if conflict.rule_b is not None and conflict.version_b is not None:
        pairs.append((conflict.rule_b, conflict.version_b))
    found = []
    for rule, number in pairs:
        version = rule.versions.filter(number=number).first()
        if version is not None:
            found.append(Side(rule, version))
    return found
