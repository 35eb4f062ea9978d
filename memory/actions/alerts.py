"""Asking people to look, and what they do about it; also about the storms behind some alerts."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from memory.background.alerting import put_alert
from memory.background.storms import KIND
from memory.domain.access import Actor, check_may
from memory.events import record_event
from memory.models import Alert, Lineage

MAX_NOTE = 2_000


def raise_alert(
    *, workspace_id: int, kind: str, dedupe: str, title: str, detail: Mapping[str, Any], by: Actor
) -> bool:
    """Ask people to look at something, in the caller's transaction; False when they are asked already.

    There is one open alert for one ``dedupe``; ``detail`` is JSON-ready. For what the product itself
    notices: there is no permission to ask for.
    """
    alert = Alert(
        workspace_id=workspace_id, kind=kind, dedupe=dedupe[:200], title=title[:300], detail=dict(detail),
        raised_at=timezone.now(),
    )  # fmt: skip
    if not put_alert(alert):
        return False
    record_event(by=by, workspace=alert.workspace, verb="raise_alert", subject=alert, reason=alert.title)
    return True


class AlreadyClosedError(ValueError):
    """Somebody closed the alert before; the text says who."""


@transaction.atomic
def close_alert(*, alert: Alert, by: Actor, note: str = "", resume: bool = False) -> Alert:
    """Somebody looked. With ``resume``, automatic rewriting of the lineage goes on; else it stays paused.

    What happened before does not count any more for the next storm. Raises :class:`NotPermitted`,
    :class:`AlreadyClosedError`.
    """
    check_may(by, "handle_alert", within=alert.workspace_id)
    lineage = (
        Lineage.objects.select_for_update(no_key=True).get(pk=alert.lineage_id) if alert.lineage_id else None
    )
    locked = Alert.objects.select_for_update(of=("self",)).select_related("workspace").get(pk=alert.pk)
    if locked.closed_at is not None:
        raise AlreadyClosedError(f"This alert was closed by {locked.closed_by}.")
    locked.closed_at, locked.closed_by, locked.note = timezone.now(), by.name[:200], note.strip()[:MAX_NOTE]
    locked.save(update_fields=["closed_at", "closed_by", "note"])
    record_event(
        by=by, workspace=locked.workspace, verb="close_alert", subject=locked, reason=locked.note,
        new={"resumed": resume and lineage is not None},
    )  # fmt: skip
    if resume and lineage is not None:
        _resume(lineage, by=by, reason=locked.note)
    return locked


@transaction.atomic
def resume_rewriting(*, lineage: Lineage, by: Actor, reason: str = "") -> Lineage:
    """Automatic rewriting of a lineage goes on, and its open storm alert is closed.

    Raises :class:`NotPermitted`.
    """
    check_may(by, "handle_alert", within=lineage.workspace_id)
    locked = Lineage.objects.select_for_update(no_key=True).get(pk=lineage.pk)
    now = timezone.now()
    for alert in Alert.objects.filter(lineage=locked, kind=KIND, closed_at=None).select_for_update():
        alert.closed_at, alert.closed_by, alert.note = now, by.name[:200], reason.strip()[:MAX_NOTE]
        alert.save(update_fields=["closed_at", "closed_by", "note"])
        record_event(by=by, workspace=locked.workspace, verb="close_alert", subject=alert, reason=alert.note)
    _resume(locked, by=by, reason=reason.strip()[:MAX_NOTE])
    return locked


@transaction.atomic
def pause_rewriting(*, lineage: Lineage, reason: str, by: Actor) -> Lineage:
    """No rewrite of this lineage without a person until somebody resumes it. Pausing twice changes nothing.

    Raises :class:`NotPermitted`.
    """
    check_may(by, "handle_alert", within=lineage.workspace_id)
    locked = Lineage.objects.select_for_update(no_key=True).get(pk=lineage.pk)
    if locked.automatic_paused_at is None:
        locked.automatic_paused_at = timezone.now()
        locked.pause_reason = reason.strip()[:MAX_NOTE] or f"{by.name} paused it."
        locked.save(update_fields=["automatic_paused_at", "pause_reason"])
        record_event(
            by=by, workspace=locked.workspace, verb="pause_rewriting", subject=locked,
            reason=locked.pause_reason,
        )  # fmt: skip
    return locked


def _resume(lineage: Lineage, *, by: Actor, reason: str) -> None:
    if lineage.automatic_paused_at is None:
        return
    old = {"reason": lineage.pause_reason}
    lineage.automatic_paused_at, lineage.pause_reason = None, ""
    lineage.save(update_fields=["automatic_paused_at", "pause_reason"])
    record_event(
        by=by, workspace=lineage.workspace, verb="resume_rewriting", subject=lineage, old=old, reason=reason
    )
