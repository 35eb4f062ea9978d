"""What was asked of the path memory, what it answered, and what came of it."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q

from memory.models.accounts import Workspace
from memory.models.experience import Task
from memory.models.paths import Path


class Localization(models.Model):
    """One question and its answer.

    ``query`` is the question as asked (tags, nodes, filters, top_k, min_score). ``candidates`` and ``avoid``
    are lists of ``{"path": uuid, "score": 0..1, "parts": {...}}``, best first, as answered. ``kind`` says
    what the answer was: found | template | nothing. ``task`` is the external id of the task it was asked
    for, where the caller said it. ``taken`` is the path that the agent says it followed. ``verdict`` and
    ``relevant`` (uuids of the paths a reviewer calls right) are the weekly review's, for rows with
    ``sampled``.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="localizations", db_index=False
    )
    goal = models.TextField()
    query = models.JSONField(default=dict)
    candidates = models.JSONField(default=list)
    avoid = models.JSONField(default=list)
    kind = models.CharField(max_length=8)
    embedder = models.CharField(max_length=80, blank=True)
    weights = models.JSONField(default=dict)
    took_ms = models.FloatField(default=0.0)
    task_name = models.CharField(max_length=200, blank=True)
    task = models.ForeignKey(Task, on_delete=models.SET_NULL, null=True, related_name="localizations")
    taken = models.ForeignKey(Path, on_delete=models.SET_NULL, null=True, related_name="+")
    outcome = models.CharField(max_length=10, default="unknown")
    sampled = models.BooleanField(default=False)
    verdict = models.CharField(max_length=10, blank=True)  # "" | right | wrong | unsure
    relevant = models.JSONField(default=list)
    review_note = models.TextField(blank=True)
    reviewed_by = models.CharField(max_length=200, blank=True)
    reviewed_at = models.DateTimeField(null=True)
    asked_by = models.CharField(max_length=200, blank=True)
    asked_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(kind__in=["found", "template", "nothing"]), name="localization_kind_known"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "-id"], name="localization_newest"),
            models.Index(
                fields=["workspace", "-asked_at"], condition=Q(sampled=True), name="localization_sample"
            ),
            models.Index(fields=["workspace", "task_name"], name="localization_by_task"),
        ]

    def __str__(self) -> str:
        return self.goal[:120]


class PathUse(models.Model):
    """A task that followed a path, and how it ended.

    ``said_result`` and ``said_reward`` are the agent's own word about this path, ``result`` and ``reward``
    (0..1) what counts: see :func:`memory.domain.rewards.result_of_use`. ``is_due`` marks a row with news
    for the worker: the outbox. ``settled_at`` is when its path first learnt from it. ``decided`` says that
    this use gave a pending path its result. ``error`` is why it could not be settled, until it can.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    path = models.ForeignKey(Path, on_delete=models.CASCADE, related_name="uses")
    task_name = models.CharField(max_length=200)
    task = models.ForeignKey(Task, on_delete=models.SET_NULL, null=True, related_name="path_uses")
    localization = models.ForeignKey(Localization, on_delete=models.SET_NULL, null=True, related_name="uses")
    said_result = models.CharField(max_length=10, default="unknown")
    said_reward = models.FloatField(null=True)
    result = models.CharField(max_length=10, default="unknown")
    reward = models.FloatField(null=True)
    is_due = models.BooleanField(default=False)
    decided = models.BooleanField(default=False)
    error = models.TextField(blank=True)
    used_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["path", "task_name"], name="path_use_once"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "task_name"], name="path_use_by_task"),
            models.Index(fields=["workspace", "-used_at"], name="path_use_newest"),
            models.Index(fields=["id"], condition=Q(is_due=True), name="path_use_backlog"),
            models.Index(fields=["id"], condition=~Q(error=""), name="path_use_error"),
        ]

    def __str__(self) -> str:
        return f"use of path {self.path_id} by {self.task_name}"
