"""The one way to write audit events. Call it inside the transaction of the change."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils import timezone

from memory.domain.access import Actor
from memory.models import AuditEvent, Workspace


@dataclass(frozen=True, kw_only=True)
class Event:
    """What was done to ``subject`` (it has ``uuid`` and ``str()``), with old and new values."""

    workspace: Workspace | None
    verb: str
    subject: Any
    old: dict[str, Any] | None = None
    new: dict[str, Any] | None = None
    reason: str = ""


def record_events(*, by: Actor, events: Iterable[Event]) -> list[AuditEvent]:
    """Append who did what, in order, with as few statements as the database allows."""
    return AuditEvent.objects.bulk_create([_row(by, event) for event in events])


def record_event(
    *,
    by: Actor,
    workspace: Workspace | None,
    verb: str,
    subject: Any,
    old: dict[str, Any] | None = None,
    new: dict[str, Any] | None = None,
    reason: str = "",
) -> AuditEvent:
    """:func:`record_events` for one."""
    event = Event(workspace=workspace, verb=verb, subject=subject, old=old, new=new, reason=reason)
    return record_events(by=by, events=[event])[0]


def _row(by: Actor, event: Event) -> AuditEvent:
    subject = event.subject
    return AuditEvent(
        workspace_uuid=event.workspace.uuid if event.workspace else None,
        at=timezone.now(),
        actor_kind=by.kind,
        actor_uuid=by.uuid,
        actor_name=by.name[:200],
        verb=event.verb,
        subject_type=type(subject).__name__,
        subject_uuid=str(subject.uuid) if isinstance(getattr(subject, "uuid", None), UUID) else "",
        subject_name=str(subject)[:300],
        old=event.old,
        new=event.new,
        reason=event.reason,
    )
