"""Alerts with what they are about."""

from dataclasses import dataclass
from typing import Any

from memory.models import Alert, Path, Workspace
from memory.queries.rewrites import list_alerts


@dataclass(frozen=True)
class AlertCard:
    """An alert, the path that it is about (the newest version of its lineage), and its signals."""

    alert: Alert
    path: Path | None
    signals: list[dict[str, Any]]


@dataclass(frozen=True)
class AlertPage:
    """Cards and the cursor of the next page."""

    rows: list[AlertCard]
    next_cursor: str
    stopped_early: bool = False


def list_alert_cards(workspace: Workspace, cursor: str, *, is_open: bool) -> AlertPage:
    """Newest first. Two queries."""
    page = list_alerts(workspace, cursor, is_open=is_open)
    lineages = {alert.lineage_id for alert in page.rows if alert.lineage_id is not None}
    newest = {
        path.lineage_id: path
        for path in Path.objects.filter(lineage__in=lineages).order_by("lineage_id", "version")
    }
    cards = [
        AlertCard(alert, newest.get(alert.lineage_id or 0), alert.detail.get("signals") or [])
        for alert in page.rows
    ]
    return AlertPage(cards, page.next_cursor)
