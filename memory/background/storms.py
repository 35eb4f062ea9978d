"""The storm watch on stored rows: it pauses automatic rewriting of a lineage and asks a person to look."""

from datetime import datetime, timedelta

import msgspec

from memory.background.alerting import put_alert
from memory.domain.rewriting.storm import WINDOW_H, Storm, StormFacts, watch
from memory.events import record_event
from memory.models import Alert, Lineage, Path, RewriteProposal
from memory.permissions import SYSTEM

KIND = "rewrite_storm"
MAX_DRAFTS = 20


def watch_lineage(lineage: Lineage, *, now: datetime) -> Storm:
    """Look at the lineage's three signals; in a storm, pause it and raise its one alert.

    Call it inside the transaction of what may have been one rewrite too many.
    """
    storm = watch(_facts(lineage, now))
    if storm.is_storm:
        _pause(lineage, storm, now)
    return storm


def alert_name(lineage: Lineage) -> str:
    """What keeps one open storm alert for a lineage."""
    return f"storm:{lineage.uuid}"


def _facts(lineage: Lineage, now: datetime) -> StormFacts:
    since = now - timedelta(hours=WINDOW_H)
    closed = Alert.objects.filter(lineage=lineage, kind=KIND, closed_at__gt=since).order_by("-closed_at")
    last = closed.values_list("closed_at", flat=True).first()
    since = last or since
    made = Path.objects.filter(lineage=lineage, origin="rewrite", created_at__gt=since)
    asked = RewriteProposal.objects.filter(lineage=lineage, requested_at__gt=since, proposal__isnull=False)
    drafts = asked.exclude(trigger="person").order_by("-id")[:MAX_DRAFTS]
    rows = [(document or {}, size) for document, size in drafts.values_list("proposal", "path__node_count")]
    rows.reverse()
    return StormFacts(
        versions=made.count(),
        reasons=tuple(str(document.get("reason", "")) for document, _ in rows),
        sizes=tuple((before, len(document.get("new_nodes", ()))) for document, before in rows),
    )


def _pause(lineage: Lineage, storm: Storm, now: datetime) -> None:
    unpaused = Lineage.objects.filter(pk=lineage.pk, automatic_paused_at=None)
    if not unpaused.update(automatic_paused_at=now, pause_reason=storm.said):
        return
    lineage.automatic_paused_at, lineage.pause_reason = now, storm.said
    put_alert(
        Alert(
            workspace_id=lineage.workspace_id,
            kind=KIND,
            dedupe=alert_name(lineage),
            title=f"Rewrites of {lineage.key[:200]} do not get anywhere",
            detail=msgspec.to_builtins(storm),
            lineage=lineage,
            raised_at=now,
        )
    )
    record_event(
        by=SYSTEM, workspace=lineage.workspace, verb="pause_rewriting", subject=lineage, reason=storm.said
    )
