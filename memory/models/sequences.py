"""Tool sequences of tasks with how the tasks ended: what *winning sequences* are read from."""

import uuid
from typing import ClassVar

from django.db import models

from memory.models.accounts import Workspace


class SequenceKind(models.Model):
    """Tasks of one kind that ended: all (""), of a domain (``domain:...``) or with a tag (``tag:...``).

    ``floor`` is in how many tasks a dropped sequence may have been at most. ``is_stale`` while the verdicts
    of its sequences are older than their counts.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    name = models.CharField(max_length=220)
    won = models.PositiveIntegerField(default=0)
    lost = models.PositiveIntegerField(default=0)
    floor = models.PositiveIntegerField(default=0)
    is_stale = models.BooleanField(default=True)
    ranked_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "name"], name="sequence_kind_once")
        ]
        indexes: ClassVar = [
            models.Index(fields=["id"], condition=models.Q(is_stale=True), name="sequence_kind_stale")
        ]

    def __str__(self) -> str:
        return self.name or "all tasks"


class ToolSequence(models.Model):
    """A run of 2 to 5 tools, in how many tasks of a kind it was, and what that says.

    ``tasks`` is ``won`` and ``lost`` together; in truth up to ``missed`` more tasks held it. ``examples`` are
    pairs of a task's uuid and whether it succeeded. What follows is worked out from the counts:
    ``is_closed``, the lift with its interval, the verdict (winning, losing, unclear, rare) and its
    ``strength``.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.ForeignKey(SequenceKind, on_delete=models.CASCADE, related_name="sequences", db_index=False)
    digest = models.CharField(max_length=32)
    tools = models.JSONField(default=list)
    won = models.PositiveIntegerField(default=0)
    lost = models.PositiveIntegerField(default=0)
    tasks = models.PositiveIntegerField(default=0)
    missed = models.PositiveIntegerField(default=0)
    examples = models.JSONField(default=list)
    is_closed = models.BooleanField(default=True)
    lift = models.FloatField(null=True)
    lift_low = models.FloatField(null=True)
    lift_high = models.FloatField(null=True)
    verdict = models.CharField(max_length=8, default="rare")
    strength = models.FloatField(default=0.0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["kind", "digest"], name="tool_sequence_once")
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["kind", "verdict", "-strength", "-id"],
                condition=models.Q(is_closed=True),
                name="sequence_by_strength",
            ),
            models.Index(
                fields=["kind", "-tasks", "-id"], condition=models.Q(is_closed=True), name="sequence_by_tasks"
            ),
            models.Index(fields=["workspace", "tasks"], name="sequence_rarest"),
        ]

    def __str__(self) -> str:
        return " → ".join(self.tools)
