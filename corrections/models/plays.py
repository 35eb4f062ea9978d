"""The demo's player: a scripted agent that walks tasks while people watch failures fall."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from corrections.domain.plays import PLAY_INITIAL, PLAY_STATES


class DemoPlay(models.Model):
    """How far the scripted agent of a demo workspace is.

    ``passes`` walks over the same tasks are made, then it ends; ``position`` is the next task of the current
    pass. ``counts`` has for each pass a list of windows ``[walks, failing walks, failures, walks that
    were told something]``; ``newest`` are the last walks with a failure or advice, newest first.
    With ``autopilot`` the player accepts what is proposed; otherwise that waits in the inbox. ``claimed_by``
    and ``claimed_at`` are the lease of the worker that plays. ``before`` are the policies that the play has
    loosened, as they were: ``{"self_approval", "start"}``.
    """

    workspace = models.OneToOneField("memory.Workspace", on_delete=models.CASCADE, related_name="demo_play")
    state = models.CharField(max_length=8, default=PLAY_INITIAL)
    autopilot = models.BooleanField(default=False)
    pass_number = models.PositiveSmallIntegerField(default=1)
    passes = models.PositiveSmallIntegerField(default=2)
    position = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    counts = models.JSONField(default=list)
    newest = models.JSONField(default=list)
    accepted = models.PositiveIntegerField(default=0)
    last_error = models.TextField(blank=True)
    claimed_by = models.CharField(max_length=64, blank=True)
    claimed_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    started_by = models.CharField(max_length=200, blank=True)
    before = models.JSONField(default=dict)
    updated_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(state__in=PLAY_STATES), name="demo_play_state_known"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["id"], condition=Q(state="running"), name="demo_play_running"),
        ]

    def __str__(self) -> str:
        return f"play of {self.workspace_id} ({self.state})"
