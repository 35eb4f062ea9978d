"""Receipts: what was really injected into a call, tied later to how the call went."""

from typing import ClassVar

from django.db import models
from django.db.models import Q


class IssuedToken(models.Model):
    """A token on its way to a ``Receipt``: the serving process only appends it, the worker reads it.

    ``errors`` is JSON text: ``[{"rule", "version", "detail", ...}]``, the faults that a token does not carry.
    ``exposures`` is JSON text too: ``[[canary uuid, stage, share, arm]]``, which the token carries sealed.
    """

    workspace = models.ForeignKey(
        "memory.Workspace", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    token = models.TextField()
    blocked = models.BooleanField(default=False)
    errors = models.TextField(default="[]")
    exposures = models.TextField(default="[]")

    def __str__(self) -> str:
        return f"token {self.pk}"


class Receipt(models.Model):
    """One decision that was handed out.

    ``body`` is the decoded token. Two passes of the worker look at each row once: ``counted_at`` is
    null until its rules were counted, ``settled_at`` until an experience carrying the token was recorded.
    Settling sets ``call_task``, ``call_seq`` and ``was_applied``: the call was made with the effective tool
    and input (null: its input was redacted or cut before it was stored, so nobody can tell).
    """

    uuid = models.UUIDField(unique=True, editable=False)
    workspace = models.ForeignKey(
        "memory.Workspace", on_delete=models.CASCADE, related_name="receipts", db_index=False
    )
    issued_at = models.DateTimeField()
    tool = models.CharField(max_length=200)
    ruleset_version = models.CharField(max_length=40)
    task_external_id = models.CharField(max_length=200, blank=True)
    body = models.JSONField()
    call_task = models.ForeignKey(
        "memory.Task", null=True, on_delete=models.SET_NULL, related_name="receipts"
    )
    call_seq = models.PositiveIntegerField(null=True)
    was_applied = models.BooleanField(null=True)
    settled_at = models.DateTimeField(null=True)
    counted_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "-id"], name="receipt_newest"),
            models.Index(fields=["id"], condition=Q(counted_at=None), name="receipt_backlog"),
        ]

    def __str__(self) -> str:
        return str(self.uuid)


class ReceiptUse(models.Model):
    """A rule version that a receipt names, one row each, for "where did this rule fire"."""

    receipt = models.ForeignKey(Receipt, on_delete=models.CASCADE, related_name="uses")
    rule = models.ForeignKey(
        "corrections.Rule", on_delete=models.CASCADE, related_name="uses", db_index=False
    )
    version = models.PositiveIntegerField()
    role = models.CharField(max_length=10)  # applied | suppressed | errored

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["receipt", "rule"], name="receipt_use_once"),
        ]
        indexes: ClassVar = [models.Index(fields=["rule", "-id"], name="receipt_use_newest")]

    def __str__(self) -> str:
        return f"{self.rule_id} {self.role}"
