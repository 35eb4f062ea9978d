"""The one way to write an audit event. Call it inside the transaction of the change."""

from typing import Any
from uuid import UUID

from django.utils import timezone

from memory.domain.access import Actor
from memory.models import AuditEvent, Workspace


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
    """Append who did what to ``subject`` (it has ``uuid`` and ``str()``), with old and new values."""
    return AuditEvent.objects.create(
        workspace_uuid=workspace.uuid if workspace else None,
        at=timezone.now(),
        actor_kind=by.kind,
        actor_uuid=by.uuid,
        actor_name=by.name[:200],
        verb=verb,
        subject_type=type(subject).__name__,
        subject_uuid=str(subject.uuid) if isinstance(getattr(subject, "uuid", None), UUID) else "",
        subject_name=str(subject)[:300],
        old=old,
        new=new,
        reason=reason,
    )
