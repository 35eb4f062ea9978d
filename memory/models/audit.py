"""The audit trail: who did what, with old and new values. Append-only, and it outlives its subjects."""

import uuid
from typing import Any, ClassVar, NoReturn

from django.db import models


class AuditEvent(models.Model):
    """One change. Written only by ``memory.events``; no foreign keys on purpose."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace_uuid = models.UUIDField(null=True)
    at = models.DateTimeField()
    actor_kind = models.CharField(max_length=8)
    actor_uuid = models.CharField(max_length=36, blank=True)
    actor_name = models.CharField(max_length=200)
    verb = models.CharField(max_length=60)
    subject_type = models.CharField(max_length=40)
    subject_uuid = models.CharField(max_length=36, blank=True)
    subject_name = models.CharField(max_length=300, blank=True)
    old = models.JSONField(null=True)
    new = models.JSONField(null=True)
    reason = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(fields=["workspace_uuid", "-id"], name="audit_newest"),
            models.Index(fields=["subject_uuid", "-id"], name="audit_by_subject"),
        ]

    def __str__(self) -> str:
        return f"{self.actor_name} {self.verb} {self.subject_type}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert only: an event is never changed."""
        if not self._state.adding:
            raise TypeError("Audit events are append-only.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: an event is never removed."""
        raise TypeError("Audit events are append-only.")
