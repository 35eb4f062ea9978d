"""What went wrong, and the patterns behind it."""

import uuid
from collections.abc import Iterable
from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from memory.models.accounts import Workspace
from memory.models.experience import Task, ToolCall
from memory.models.tools import Validator


class PatternQuerySet(models.QuerySet["ErrorPattern"]):
    """Filters that read as adjectives."""

    def uncovered(self) -> "PatternQuerySet":
        """Patterns that no rule handles and nobody set aside."""
        return self.filter(status="open")

    def lock_in_order(self, ids: Iterable[int]) -> None:
        """Lock these for a change, in the one order in which everybody does. Inside a transaction."""
        rows = self.filter(pk__in=list(ids)).order_by("id").select_for_update(no_key=True)
        list(rows.values_list("pk", flat=True))


class ErrorPattern(models.Model):
    """The same mistake, however often it was made: tool, error type, masked message, identifier, scope.

    ``first_task`` is the earliest recorded task that made it: in every later one it is a repeat.
    ``linked_at`` is null until the worker has looked for similar patterns.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="patterns")
    fingerprint = models.CharField(max_length=64)
    tool = models.CharField(max_length=200)
    error_type = models.CharField(max_length=200)
    template = models.TextField()
    identifier = models.CharField(max_length=500, blank=True)
    scope = models.CharField(max_length=500, blank=True)
    title = models.CharField(max_length=500)
    status = models.CharField(max_length=8, default="open")
    occurrence_count = models.PositiveIntegerField(default=0)
    task_count = models.PositiveIntegerField(default=0)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    first_task = models.ForeignKey(Task, null=True, on_delete=models.SET_NULL, related_name="+")
    linked_at = models.DateTimeField(null=True)

    objects = PatternQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-last_seen_at", "-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "fingerprint"], name="pattern_fingerprint"),
            models.CheckConstraint(
                condition=Q(status__in=["open", "covered", "ignored"]), name="pattern_status_known"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "status", "-occurrence_count"], name="pattern_by_count"),
            models.Index(fields=["workspace", "-last_seen_at"], name="pattern_by_recency"),
            models.Index(fields=["workspace", "tool"], name="pattern_by_tool"),
            models.Index(fields=["id"], condition=Q(linked_at=None), name="pattern_unlinked"),
        ]

    def __str__(self) -> str:
        return self.title


class PatternLink(models.Model):
    """``similar_to`` between two patterns of one workspace, stored once with the smaller id first."""

    pattern = models.ForeignKey(ErrorPattern, on_delete=models.CASCADE, related_name="links_out")
    other = models.ForeignKey(ErrorPattern, on_delete=models.CASCADE, related_name="links_in")
    similarity = models.FloatField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["pattern", "other"], name="pattern_link_once"),
            models.CheckConstraint(condition=Q(pattern__lt=F("other")), name="pattern_link_ordered"),
        ]

    def __str__(self) -> str:
        return f"{self.pattern_id} ~ {self.other_id} ({self.similarity:.2f})"


class Failure(models.Model):
    """One thing that went wrong. ``source`` says who found it; ``detector`` makes finding it twice harmless.

    ``call`` is null when only the task as a whole failed. ``repeat`` is true when an earlier task of the
    workspace already met the same pattern: the number the product exists to lower.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="failures")
    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="failures", db_index=False)
    call = models.ForeignKey(ToolCall, null=True, on_delete=models.CASCADE, related_name="failures")
    pattern = models.ForeignKey(
        ErrorPattern, on_delete=models.CASCADE, related_name="failures", db_index=False
    )
    validator = models.ForeignKey(Validator, null=True, on_delete=models.SET_NULL, related_name="failures")
    source = models.CharField(max_length=10)  # explicit | validator | outcome
    detector = models.CharField(max_length=80)  # "call:3", "call:3:validator:<uuid>", "task"
    error_type = models.CharField(max_length=200)
    message = models.TextField(blank=True)
    http_status = models.PositiveSmallIntegerField(null=True)
    context = models.JSONField(default=dict)
    repeat = models.BooleanField(default=False)
    happened_at = models.DateTimeField()
    found_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["task", "detector"], name="failure_found_once"),
            models.CheckConstraint(
                condition=Q(source__in=["explicit", "validator", "outcome"]), name="failure_source_known"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "-happened_at"], name="failure_by_time"),
            models.Index(fields=["pattern", "-id"], name="failure_by_pattern"),
        ]

    def __str__(self) -> str:
        return f"{self.error_type}: {self.message[:60]}"


class DailyCount(models.Model):
    """Calls, failures and repeated failures of one tool on one day (UTC): what the overview's chart reads.

    ``failures`` and ``repeats`` count ``Failure`` rows; a task that failed as a whole counts under
    the tool "(task)".
    """

    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="daily_counts", db_index=False
    )
    day = models.DateField()
    tool = models.CharField(max_length=200)
    calls = models.PositiveIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)
    repeats = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "day", "tool"], name="daily_count_once"),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.tool}"
