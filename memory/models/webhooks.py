"""Webhooks: who wants to be told what, and every message on its way there."""

import uuid
from datetime import datetime
from typing import ClassVar

from django.db import models
from django.db.models import Q

from memory.domain.webhooks import DELIVERY_STATES
from memory.models.accounts import Workspace


class Webhook(models.Model):
    """An address that is told of ``events``. Its secret is derived from the server's and ``secret_number``.

    ``failures`` counts messages in a row that were given up.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=500)
    events = models.JSONField(default=list)
    is_enabled = models.BooleanField(default=True)
    secret_number = models.PositiveIntegerField(default=1)
    failures = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=200)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "url"], name="webhook_once"),
        ]

    def __str__(self) -> str:
        return self.url


class DeliveryQuerySet(models.QuerySet["WebhookDelivery"]):
    """Filters that read as adjectives."""

    def due(self, now: datetime) -> "DeliveryQuerySet":
        """To be tried now."""
        return self.filter(state="waiting", next_at__lte=now)


class WebhookDelivery(models.Model):
    """One message to one webhook; its uuid is the message's id. ``next_at`` is also the sender's lease."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    event = models.CharField(max_length=40)
    body = models.JSONField()
    state = models.CharField(max_length=9, default="waiting")
    attempt = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField()
    status_code = models.PositiveSmallIntegerField(null=True)
    last_error = models.TextField(blank=True)
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(state__in=DELIVERY_STATES), name="delivery_state_known"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["webhook", "-id"], name="delivery_newest"),
            models.Index(fields=["next_at"], condition=Q(state="waiting"), name="delivery_due"),
        ]

    def __str__(self) -> str:
        return f"{self.event} ({self.state})"
