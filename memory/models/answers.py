"""Answers to writes that carried an ``Idempotency-Key``, kept for a day."""

from typing import ClassVar

from django.db import models

from memory.models.accounts import Workspace


class StoredAnswer(models.Model):
    """What a caller got for one key; sending the same request again gets it again.

    ``actor_uuid`` is the caller's, so two callers may use the same key. ``digest`` is of the request.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    actor_uuid = models.CharField(max_length=36)
    key = models.CharField(max_length=200)
    digest = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(default=0)
    body = models.JSONField(null=True)
    answered_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "actor_uuid", "key"], name="answer_once"),
        ]
        indexes: ClassVar = [models.Index(fields=["answered_at"], name="answer_by_age")]

    def __str__(self) -> str:
        return self.key
