"""An uploaded file of runs on its way in: planned, applied, reported."""

import uuid
from datetime import datetime
from typing import ClassVar

from django.db import models
from django.db.models import Q

from memory.models.accounts import Workspace


class ImportQuerySet(models.QuerySet["ImportJob"]):
    """Filters that read as adjectives."""

    def unattended(self, since: datetime) -> "ImportQuerySet":
        """Running, but no worker has given a sign of life after ``since``: the backlog of imports."""
        return self.filter(Q(beat_at=None) | Q(beat_at__lt=since), status="running")


class ImportJob(models.Model):
    """One upload: what the plan found, how far applying it has come, which lines were refused.

    ``cursor`` counts the items whose experience is committed: a killed worker goes on from there, and what
    it sends twice changes nothing. ``beat_at`` is the last sign of life of the worker that is at it,
    ``seconds`` the time spent on it.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="imports")
    file_name = models.CharField(max_length=200)
    stored_as = models.CharField(max_length=300)
    format = models.CharField(max_length=20)
    status = models.CharField(max_length=10, default="planned")
    plan = models.JSONField(default=dict)
    total = models.PositiveIntegerField(default=0)
    cursor = models.PositiveIntegerField(default=0)
    result = models.JSONField(default=dict)
    problems = models.JSONField(default=list)
    size_bytes = models.PositiveBigIntegerField(default=0)
    seconds = models.FloatField(default=0)
    beat_at = models.DateTimeField(null=True)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    objects = ImportQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(fields=["status"], condition=Q(status="running"), name="import_backlog")
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(status__in=["planned", "running", "done", "failed", "cancelled"]),
                name="import_status_known",
            ),
        ]

    def __str__(self) -> str:
        return self.file_name
