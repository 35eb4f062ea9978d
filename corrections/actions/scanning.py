"""Asking for conflict scans: rows that the worker finds. A new or published version asks by itself."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import Max
from django.utils import timezone

from corrections.models import ConflictScan, Rule, ToolImpact
from memory.actions import record_event
from memory.domain.access import Actor, check_may
from memory.queries.workspaces import get_workspace

RECENT = timedelta(days=1)
MANY = 50


def queue_scans(rules: Sequence[Rule], *, by: Actor) -> None:
    """Ask for a scan of each rule's latest version, in the caller's transaction; of everything for many.

    A rule whose scan has not begun is not asked for twice. The number of queries does not grow.
    """
    if len(rules) > MANY:
        _queue_full_once({rule.workspace_id for rule in rules}, by)
        return
    if not rules:
        return
    waiting = ConflictScan.objects.filter(rule__in=[rule.pk for rule in rules], status="queued")
    queued = set(waiting.values_list("rule", flat=True))
    now = timezone.now()
    ConflictScan.objects.bulk_create(
        ConflictScan(
            workspace_id=rule.workspace_id, rule=rule, requested_by=by.name[:200], requested_at=now
        )
        for rule in rules
        if rule.pk not in queued
    )  # fmt: skip


def _queue_full_once(workspaces: set[int], by: Actor) -> None:
    waiting = ConflictScan.objects.filter(workspace__in=workspaces, rule=None, status="queued")
    for workspace_id in workspaces - set(waiting.values_list("workspace", flat=True)):
        _queue_full(workspace_id, by)


def scan_everything(*, workspace_id: int, by: Actor) -> ConflictScan:
    """Ask for a scan of all served rules; the one that is under way already, if there is one.

    Raises :class:`NotPermitted`.
    """
    check_may(by, "rule_conflict", within=workspace_id)
    rows = ConflictScan.objects.filter(workspace_id=workspace_id, rule=None, status__in=("queued", "running"))
    under_way = rows.defer("plan").first()
    return under_way or _queue_full(workspace_id, by)


def _queue_full(workspace_id: int, by: Actor) -> ConflictScan:
    workspace = get_workspace(workspace_id)
    scan = ConflictScan.objects.create(
        workspace=workspace, requested_by=by.name[:200], requested_at=timezone.now()
    )
    record_event(by=by, workspace=workspace, verb="scan_conflicts", subject=scan)
    return scan


def scan_after_tool_changes(*, now: datetime, by: Actor) -> int:
    """The clock: a tool's new schema is a new fact, so everything is scanned again; how many scans."""
    impacts = ToolImpact.objects.filter(opened_at__gt=now - RECENT).order_by().values("workspace")
    opened = dict(impacts.annotate(at=Max("opened_at")).values_list("workspace", "at"))
    scans = ConflictScan.objects.filter(workspace__in=list(opened), rule=None).order_by().values("workspace")
    asked = dict(scans.annotate(at=Max("requested_at")).values_list("workspace", "at"))
    due = [pk for pk, at in opened.items() if pk not in asked or asked[pk] < at]
    for workspace_id in due:
        scan_everything(workspace_id=workspace_id, by=by)
    return len(due)
