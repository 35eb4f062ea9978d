"""Change requests: every change to what agents are served, with its approvals and comments."""

import uuid
from datetime import datetime
from typing import ClassVar

from django.db import models
from django.db.models import Q

from corrections.domain.changes import CHANGE_STATUSES, KINDS, UNDECIDED
from corrections.models.rules import Rule, RuleVersion


class ChangeRequestQuerySet(models.QuerySet["ChangeRequest"]):
    """Filters that read as adjectives."""

    def undecided(self) -> "ChangeRequestQuerySet":
        """Neither published nor given up."""
        return self.filter(status__in=UNDECIDED)

    def due(self, now: datetime) -> "ChangeRequestQuerySet":
        """Approved, and their time has come."""
        return self.filter(status="approved", publish_at__lte=now)


class ChangeRequest(models.Model):
    """A wish to change a rule (or to rule on a conflict), and what became of it.

    ``version`` is what would be served (``create``, ``edit``, ``enable``); ``base_version`` and
    ``base_status`` are what was served when the request was written: publishing is refused when the rule
    moved on since. ``revision`` goes up with each edit, and approvals count for one revision only.
    ``authors`` holds the uuids of all actors who wrote it. ``batch`` ties requests that are decided and
    published together. ``detail`` belongs to the kind (a ruling's document, why a bulk change was asked for).
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(
        "memory.Workspace", on_delete=models.CASCADE, related_name="change_requests", db_index=False
    )
    rule = models.ForeignKey(Rule, null=True, on_delete=models.CASCADE, related_name="changes")
    kind = models.CharField(max_length=8)
    status = models.CharField(max_length=10, default="open")
    title = models.CharField(max_length=300)
    description = models.TextField(blank=True)
    version = models.ForeignKey(RuleVersion, null=True, on_delete=models.PROTECT, related_name="+")
    base_version = models.PositiveIntegerField(null=True)
    base_status = models.CharField(max_length=8, blank=True)
    detail = models.JSONField(default=dict)
    batch = models.UUIDField(null=True)
    is_urgent = models.BooleanField(default=False)
    publish_at = models.DateTimeField(null=True)
    revision = models.PositiveIntegerField(default=1)
    authors = models.JSONField(default=list)
    requested_by = models.CharField(max_length=200)
    requested_by_kind = models.CharField(max_length=8)
    requested_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    decided_by = models.CharField(max_length=200, blank=True)
    decided_at = models.DateTimeField(null=True)
    decision_reason = models.TextField(blank=True)
    published_at = models.DateTimeField(null=True)
    failure = models.TextField(blank=True)

    objects = ChangeRequestQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(status__in=CHANGE_STATUSES), name="change_status_known"),
            models.CheckConstraint(condition=Q(kind__in=KINDS), name="change_kind_known"),
            models.UniqueConstraint(
                fields=["rule", "kind"], condition=Q(status__in=UNDECIDED), name="change_undecided_once"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "status", "-id"], name="change_by_status"),
            models.Index(fields=["publish_at"], condition=Q(status="approved"), name="change_due"),
            models.Index(fields=["batch"], condition=Q(batch__isnull=False), name="change_batch"),
        ]

    def __str__(self) -> str:
        return self.title


class ChangeApproval(models.Model):
    """Somebody let one revision of a change through. Approvals of earlier revisions stay as history."""

    change = models.ForeignKey(ChangeRequest, on_delete=models.CASCADE, related_name="approvals")
    revision = models.PositiveIntegerField()
    actor_kind = models.CharField(max_length=8)
    actor_uuid = models.CharField(max_length=36, blank=True)
    actor_name = models.CharField(max_length=200)
    note = models.TextField(blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["change", "revision", "actor_kind", "actor_uuid"], name="change_approved_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.actor_name} approved revision {self.revision}"


class ChangeComment(models.Model):
    """What somebody said about a change; shown under it, never part of it."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    change = models.ForeignKey(ChangeRequest, on_delete=models.CASCADE, related_name="comments")
    author_kind = models.CharField(max_length=8)
    author_name = models.CharField(max_length=200)
    text = models.TextField()
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.author_name}: {self.text[:60]}"
