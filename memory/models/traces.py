"""Spans on their way to becoming tasks: they come in any order, in many requests, and more than once."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from memory.models.accounts import Workspace


class Trace(models.Model):
    """A trace that exporters send: what waits of it, and whether its task is written to the end.

    ``trace`` is 32 hex digits and the external id of the task. ``waiting_since`` is when the oldest span came
    that is not written yet, ``news_at`` when the last new one did. ``next_seq`` is the place that the next
    call gets. ``closed_at``: no more spans are taken. ``problem`` says why its task could not be written.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    trace = models.CharField(max_length=32)
    has_root = models.BooleanField(default=False)
    span_count = models.PositiveIntegerField(default=0)
    next_seq = models.PositiveIntegerField(default=0)
    news_at = models.DateTimeField()
    waiting_since = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    problem = models.TextField(blank=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["workspace", "trace"], name="trace_once")]
        indexes: ClassVar = [
            models.Index(fields=["news_at"], condition=Q(closed_at=None), name="trace_open"),
            models.Index(fields=["closed_at"], condition=Q(closed_at__isnull=False), name="trace_closed"),
        ]

    def __str__(self) -> str:
        return self.trace


class TraceSpan(models.Model):
    """A span of a trace, named by its id: what came again is recognised by it.

    ``row`` is what of it is needed, redacted; of a written call only its name. ``seq`` is the call's place in
    the task, null for a span that is no call or is not written yet.
    """

    trace = models.ForeignKey(Trace, on_delete=models.CASCADE, related_name="spans", db_index=False)
    span = models.CharField(max_length=16)
    row = models.JSONField(default=dict)
    seq = models.PositiveIntegerField(null=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["trace", "span"], name="trace_span_once")]

    def __str__(self) -> str:
        return self.span
