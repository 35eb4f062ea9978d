"""An uploaded file of runs on its way in: planned, applied, reported."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q

from memory.models.accounts import Workspace


class ImportJob(models.Model):
    """One upload: what the plan found, how far applying it has come, which lines were refused.

    ``cursor`` is the last item whose experience is committed: a killed worker goes on from there, and what
    it sends twice changes nothing.
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
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(status__in=["planned", "running", "done", "failed", "cancelled"]),
                name="import_status_known",
            ),
        ]

    def __str__(self) -> str:
        return self.file_name
