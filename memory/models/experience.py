"""Evidence: tasks, steps, tool calls and what was said about them. No model ever overwrites it."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q

from memory.models.accounts import Workspace


class TaskQuerySet(models.QuerySet["Task"]):
    """Filters that read as adjectives."""

    def unanalysed(self) -> "TaskQuerySet":
        """Tasks with news that the worker has not looked at: the backlog."""
        return self.filter(analysed_at=None)


class Task(models.Model):
    """One task of an agent. ``external_id`` is the sender's name for it and the idempotency key.

    ``root_task`` is the external id of the outermost task (its own for a top-level task). ``outcome``,
    ``reward`` and ``outcome_by`` are the strongest of the ``Outcome`` rows, kept here for lists.
    ``revision`` goes up with every change. ``analysed_at`` is null while the worker has something new to look
    at; ``analysed_call`` is the newest call row it has seen, ``analysis_error`` what it could not read.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="tasks")
    external_id = models.CharField(max_length=200)
    root_task = models.CharField(max_length=200)
    goal = models.TextField(blank=True)
    tags = models.JSONField(default=list)
    agent = models.CharField(max_length=200, blank=True)
    framework = models.CharField(max_length=200, blank=True)
    env = models.JSONField(default=dict)
    final = models.BooleanField(default=False)
    outcome = models.CharField(max_length=10, default="unknown")
    reward = models.FloatField(null=True)
    outcome_by = models.CharField(max_length=12, blank=True)
    call_count = models.PositiveIntegerField(default=0)
    failure_count = models.PositiveIntegerField(default=0)
    content_digest = models.CharField(max_length=64)
    redactions = models.JSONField(default=dict)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    received_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    revision = models.PositiveIntegerField(default=1)
    analysed_at = models.DateTimeField(null=True)
    analysed_call = models.PositiveBigIntegerField(default=0)
    analysis_error = models.TextField(blank=True)

    objects = TaskQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "external_id"], name="task_external_id"),
            models.CheckConstraint(
                condition=Q(outcome__in=["unknown", "success", "failure"]), name="task_outcome_known"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "-id"], name="task_newest"),
            models.Index(fields=["workspace", "outcome", "-id"], name="task_by_outcome"),
            models.Index(fields=["workspace", "root_task"], name="task_by_root"),
            models.Index(fields=["id"], condition=Q(analysed_at=None), name="task_backlog"),
            models.Index(
                fields=["workspace", "analysed_at", "id"],
                condition=Q(final=True, analysed_at__isnull=False),
                name="task_finished",
            ),
            models.Index(fields=["id"], condition=~Q(analysis_error=""), name="task_analysis_error"),
        ]

    def __str__(self) -> str:
        return self.external_id


class Step(models.Model):
    """One turn of the agent, where the turn has content of its own (its reasoning)."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="steps")
    index = models.PositiveIntegerField()
    reasoning = models.TextField(blank=True)
    reasoning_digest = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering: ClassVar = ["index"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["task", "index"], name="step_once")]

    def __str__(self) -> str:
        return f"step {self.index}"


class ToolCall(models.Model):
    """One call of a tool: immutable evidence, addressed by its task and ``seq``.

    ``status`` is what the sender reported; whether it *failed* is what the analysis finds. ``input`` and
    ``output`` are redacted; a large one is a ``{"$payload": sha256, ...}`` stand-in for a ``Payload`` row.
    ``receipt`` is the token of the decision the call was made under; ``receipt_settled_at`` is null until the
    worker has tied it to its receipt.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="calls", db_index=False)
    seq = models.PositiveIntegerField()
    step = models.PositiveIntegerField()
    tool = models.CharField(max_length=200)
    tool_version = models.CharField(max_length=200, blank=True)
    input = models.JSONField(default=dict)
    output = models.JSONField(null=True)
    status = models.CharField(max_length=10, default="unknown")
    error = models.JSONField(null=True)
    duration_ms = models.FloatField(null=True)
    reasoning = models.TextField(blank=True)
    reasoning_digest = models.CharField(max_length=64, blank=True)
    receipt = models.TextField(blank=True)
    digest = models.CharField(max_length=64)
    started_at = models.DateTimeField(null=True)
    recorded_at = models.DateTimeField()
    receipt_settled_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["task_id", "seq"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["task", "seq"], name="call_once")]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "tool", "-id"], name="call_by_tool"),
            models.Index(
                fields=["id"],
                condition=Q(receipt_settled_at=None) & ~Q(receipt=""),
                name="call_receipt_backlog",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tool} #{self.seq}"


class Outcome(models.Model):
    """Who said how a task ended. Append-only: a later word is a new row."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="outcomes")
    result = models.CharField(max_length=10)
    reward = models.FloatField(null=True)
    by = models.CharField(max_length=12)
    actor = models.CharField(max_length=200, blank=True)
    note = models.TextField(blank=True)
    digest = models.CharField(max_length=64)
    said_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["task", "digest"], name="outcome_said_once"),
        ]

    def __str__(self) -> str:
        return f"{self.result} by {self.by}"


class Payload(models.Model):
    """A large value, stored once for each workspace under the digest of its whole content."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    digest = models.CharField(max_length=64)
    size = models.PositiveIntegerField()
    truncated = models.BooleanField(default=False)
    body = models.TextField()
    stored_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "digest"], name="payload_once"),
        ]

    def __str__(self) -> str:
        return self.digest[:12]
