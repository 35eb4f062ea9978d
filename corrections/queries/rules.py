"""Rules and their versions, for pages and API."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Q, QuerySet

from corrections.domain.diff import Change, diff_documents
from corrections.models import Rule, RuleVersion


def list_rules(
    *,
    workspace_id: int,
    status: str = "",
    tool: str = "",
    action_type: str = "",
    q: str = "",
    needs_look: str = "",
    pattern: UUID | None = None,
) -> QuerySet[Rule]:
    """The workspace's rules, newest first, filtered by what their latest version says. Two queries at most.

    ``q`` looks in the name, the tool and the condition; any ``needs_look`` leaves those that ask for it.
    Deleted rules are left out unless their ``status`` is asked for.

    ``q`` looks in the name, the tool and the condition.
    """
    rows = Rule.objects.filter(workspace_id=workspace_id).select_related("latest_version", "live_version")
    rows = rows.filter(status=status) if status else rows.exclude(status="deleted")
    if tool:
        rows = rows.filter(latest_version__tool=tool)
    if action_type:
        rows = rows.filter(latest_version__action_type=action_type)
    if needs_look:
        rows = rows.filter(stale_since__isnull=False)
    if pattern is not None:
        rows = rows.filter(patterns__uuid=pattern)
    if q:
        rows = rows.filter(
            Q(name__icontains=q)
            | Q(latest_version__tool__icontains=q)
            | Q(latest_version__body__condition__icontains=q)
        )
    return rows


def get_rule(*, workspace_id: int, uuid: UUID) -> Rule | None:
    """One rule of the workspace with its latest and live version, or None."""
    rows = Rule.objects.select_related("workspace", "latest_version", "live_version")
    return rows.filter(workspace_id=workspace_id, uuid=uuid).first()


def list_versions(rule: Rule) -> QuerySet[RuleVersion]:
    """All versions of a rule, newest first."""
    return rule.versions.order_by("-number")


def get_version(rule: Rule, number: int) -> RuleVersion | None:
    """One version, or None."""
    return rule.versions.filter(number=number).first()


def diff_versions(rule: Rule, *, old: int, new: int) -> list[Change] | None:
    """What changed between two versions, field by field; None when one of them does not exist."""
    before, after = get_version(rule, old), get_version(rule, new)
    if before is None or after is None:
        return None
    return diff_documents(before.body, after.body)


def count_by_status(workspace_id: int) -> dict[str, int]:
    """How many rules are in each status (a status without rules is left out)."""
    rows = Rule.objects.filter(workspace_id=workspace_id).order_by()
    return dict(rows.values_list("status").annotate(n=Count("id")))


@dataclass(frozen=True)
class LinkedPattern:
    """An error pattern that a rule is meant to handle."""

    uuid: UUID
    title: str
    status: str


def patterns_of(rule: Rule) -> list[LinkedPattern]:
    """The error patterns a rule names."""
    rows = rule.patterns.values_list("uuid", "title", "status")
    return [LinkedPattern(*row) for row in rows]


def rules_of_pattern(*, workspace_id: int, pattern: UUID) -> list[Rule]:
    """The rules that name a pattern, newest first."""
    return list(list_rules(workspace_id=workspace_id, pattern=pattern))


def rules_by_pattern(*, workspace_id: int, patterns: Iterable[UUID]) -> dict[int, list[Rule]]:
    """Uuid, name and status of the rules that name these patterns, by the pattern's id, oldest first."""
    links = Rule.patterns.through.objects.filter(
        errorpattern__uuid__in=list(patterns), errorpattern__workspace=workspace_id
    )
    found: dict[int, list[Rule]] = defaultdict(list)
    rows = links.exclude(rule__status="deleted").select_related("rule").order_by("rule_id")
    for link in rows.only("errorpattern_id", "rule__uuid", "rule__name", "rule__status"):
        found[link.errorpattern_id].append(link.rule)
    return dict(found)


def document_of(rule: Rule) -> dict[str, Any]:
    """The latest document, as an editor starts from it."""
    return dict(rule.latest_version.body) if rule.latest_version else {}


def names_of(*, workspace_id: int, uuids: Iterable[UUID | str]) -> dict[str, str]:
    """Names of the workspace's rules, by uuid as text. Unknown and foreign ones are left out."""
    rows = Rule.objects.filter(workspace_id=workspace_id, uuid__in=list(uuids))
    return {str(uuid): name for uuid, name in rows.values_list("uuid", "name")}


def list_drafts(*, workspace_id: int, limit: int = 50) -> list[Rule]:
    """The newest rules whose latest version is not served: what one may want to try."""
    rows = Rule.objects.filter(workspace_id=workspace_id).exclude(status__in=("retired", "deleted"))
    rows = rows.exclude(status__in=("active", "canary"), live_version=F("latest_version"))
    return list(rows.select_related("latest_version").order_by("-pk")[:limit])
