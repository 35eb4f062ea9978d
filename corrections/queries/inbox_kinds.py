"""What may wait for a person: one row a kind, with how to find it and how to say it in a line."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Model, Q, QuerySet

from corrections.domain.changes import UNDECIDED
from corrections.models import Canary, ChangeRequest, Conflict, Rule, RuleProposal, ToolImpact
from memory.queries.rewrites import alert_rows, in_status, rewrite_rows

MAX_TITLE = 200


@dataclass(frozen=True)
class Brief:
    """An item in a line: what it is about, why it waits, its tool, and the revision that was seen."""

    title: str
    why: str
    state: str = ""
    tool: str = ""
    revision: int | None = None


@dataclass(frozen=True)
class Kind:
    """One kind of item. ``at`` names the column with the time since when it waits, ``searched`` the texts."""

    name: str
    at: str
    rows: Callable[[int], QuerySet[Any]]
    brief: Callable[[Any], Brief]
    searched: tuple[str, ...]
    all_rows: Callable[[int], QuerySet[Any]] | None = None
    """Rows in any status, where a decision can be taken back."""


@dataclass(frozen=True)
class Item:
    """Something that waits for a person. ``row`` is the thing itself; ``assignee`` is a user name or ""."""

    kind: str
    uuid: UUID
    at: datetime
    row: Model
    brief: Brief
    assignee: str = ""


def _all_proposals(workspace_id: int) -> QuerySet[Any]:
    return RuleProposal.objects.filter(workspace_id=workspace_id).select_related("workspace")


def _all_changes(workspace_id: int) -> QuerySet[Any]:
    return ChangeRequest.objects.filter(workspace_id=workspace_id).select_related("rule", "version")


def _rewrites(workspace_id: int) -> QuerySet[Any]:
    return in_status(rewrite_rows(workspace_id), "waiting").defer("transcript")


def _proposals(workspace_id: int) -> QuerySet[Any]:
    return RuleProposal.objects.waiting().filter(workspace_id=workspace_id).defer("transcript")


def _changes(workspace_id: int) -> QuerySet[Any]:
    """Those that need somebody: an approved one only waits for the clock."""
    return _all_changes(workspace_id).filter(status__in=UNDECIDED).exclude(status="approved")


def _conflicts(workspace_id: int) -> QuerySet[Any]:
    rows = Conflict.objects.filter(workspace_id=workspace_id, status="open", verdict="conflict")
    return rows.select_related("rule_a", "rule_b")


def _alerts(workspace_id: int) -> QuerySet[Any]:
    return alert_rows(workspace_id).filter(closed_at=None)


def _impacts(workspace_id: int) -> QuerySet[Any]:
    return ToolImpact.objects.filter(workspace_id=workspace_id, closed_at=None).select_related("tool")


def _stale(workspace_id: int) -> QuerySet[Any]:
    rows = Rule.objects.filter(workspace_id=workspace_id, stale_since__isnull=False)
    return rows.exclude(status__in=["retired", "deleted"]).select_related("latest_version")


def _canaries(workspace_id: int) -> QuerySet[Any]:
    """Those whose time is over without a verdict, and those whose arms do not match."""
    rows = Canary.objects.filter(workspace_id=workspace_id).defer("kept").select_related("rule", "version")
    blocked = Q(state__in=("running", "holdout"), evidence__step="blocked")
    return rows.filter(Q(state="held") | blocked)


def _rewrite_brief(row: Any) -> Brief:
    title = row.path.goal or row.path.key
    return Brief(title[:MAX_TITLE], row.request.get("reason", ""), row.status, "", row.revision)


def _proposal_brief(row: RuleProposal) -> Brief:
    why = f"{row.caught}/{row.failures}"
    return Brief(row.name, why, row.source, row.tool)


def _change_brief(row: ChangeRequest) -> Brief:
    tool = row.version.tool if row.version else ""
    return Brief(row.title, row.failure or row.description, row.kind, tool, row.revision)


def _conflict_brief(row: Conflict) -> Brief:
    names = [rule.name for rule in (row.rule_a, row.rule_b) if rule is not None]
    return Brief(" / ".join(names)[:MAX_TITLE], row.reason[:MAX_TITLE], row.kind, row.tool)


def _alert_brief(row: Any) -> Brief:
    why = row.detail.get("reason", "") if isinstance(row.detail, dict) else ""
    return Brief(row.title, str(why)[:MAX_TITLE], row.kind)


def _impact_brief(row: ToolImpact) -> Brief:
    return Brief(row.tool.name, f"v{row.from_version} → v{row.to_version}", "", row.tool.name)


def _canary_brief(row: Canary) -> Brief:
    why = row.state_reason if row.state == "held" else str(row.evidence.get("reason", ""))
    return Brief(row.rule.name, why[:MAX_TITLE], row.state, row.version.tool)


def _stale_brief(row: Rule) -> Brief:
    tool = row.latest_version.tool if row.latest_version else ""
    reasons = row.stale_reasons if isinstance(row.stale_reasons, list) else []
    said = [reason.get("detail", "") if isinstance(reason, dict) else str(reason) for reason in reasons]
    return Brief(row.name, " ".join(said)[:MAX_TITLE], row.status, tool)


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("alert", "raised_at", _alerts, _alert_brief, ("title",)),
        Kind("change", "requested_at", _changes, _change_brief, ("title", "version__tool"), _all_changes),
        Kind("rewrite", "requested_at", _rewrites, _rewrite_brief, ("path__goal", "path__key"), rewrite_rows),
        Kind("proposal", "proposed_at", _proposals, _proposal_brief, ("name", "tool"), _all_proposals),
        Kind("conflict", "found_at", _conflicts, _conflict_brief, ("rule_a__name", "rule_b__name", "tool")),
        Kind("impact", "opened_at", _impacts, _impact_brief, ("tool__name",)),
        Kind("canary", "updated_at", _canaries, _canary_brief, ("rule__name", "version__tool")),
        Kind("stale", "stale_since", _stale, _stale_brief, ("name",)),
    )
}
"""Every kind there is, in the order in which items of the same moment stand."""
