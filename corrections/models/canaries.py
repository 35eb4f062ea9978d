"""Canaries: a rule on trial, its stages, the tasks exposed to it, and what was decided with which numbers."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q

from corrections.domain.canaries import (
    ARMS,
    CANARY_INITIAL,
    CANARY_STATES,
    LIVE_STATES,
    PHASES,
    SERVED_STATES,
)
from corrections.models.changes import ChangeRequest
from corrections.models.receipts import Receipt
from corrections.models.rules import Rule, RuleVersion


class CanaryQuerySet(models.QuerySet["Canary"]):
    """Filters that read as adjectives."""

    def live(self) -> "CanaryQuerySet":
        """Not over."""
        return self.filter(state__in=LIVE_STATES)

    def served(self) -> "CanaryQuerySet":
        """Its rule is handed to the engine, with a trial."""
        return self.filter(state__in=SERVED_STATES)


class Canary(models.Model):
    """A version of a rule on trial: against no rule, or against the version served so far (``baseline``).

    ``share`` of 10,000 buckets of root tasks get ``version`` in the current ``stage``. ``kept`` names root
    tasks (16 hex digits each) that stay in the control arm although a ramp would have moved them.
    ``policy`` is the workspace's when it began. ``evidence`` is what the last look saw; ``is_due`` asks the
    controller for the next one. Only exposures since ``evidence_since`` count. ``ends_at`` is the time limit.
    ``schema_version`` and ``schema_hash`` are those of the tool that the evidence is about. ``slow_ms`` maps
    a tool to the duration above which a call of it counts as slow.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(
        "memory.Workspace", on_delete=models.CASCADE, related_name="canaries", db_index=False
    )
    rule = models.ForeignKey(Rule, on_delete=models.CASCADE, related_name="canaries")
    version = models.ForeignKey(RuleVersion, on_delete=models.PROTECT, related_name="+")
    baseline = models.ForeignKey(RuleVersion, null=True, on_delete=models.PROTECT, related_name="+")
    change = models.ForeignKey(ChangeRequest, null=True, on_delete=models.SET_NULL, related_name="canaries")
    state = models.CharField(max_length=12, default=CANARY_INITIAL)
    state_reason = models.TextField(blank=True)
    salt = models.CharField(max_length=32)
    stage = models.PositiveIntegerField(default=0)
    share = models.PositiveIntegerField(default=0)
    kept = models.JSONField(default=list)
    policy = models.JSONField(default=dict)
    schema_version = models.PositiveIntegerField(default=0)
    schema_hash = models.CharField(max_length=64, blank=True)
    slow_ms = models.JSONField(default=dict)
    evidence = models.JSONField(default=dict)
    is_due = models.BooleanField(default=False)
    requested_by = models.CharField(max_length=200)
    requested_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    evidence_since = models.DateTimeField(null=True)
    ends_at = models.DateTimeField(null=True)
    looked_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    ended_by = models.CharField(max_length=200, blank=True)

    objects = CanaryQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(state__in=CANARY_STATES), name="canary_state_known"),
            models.UniqueConstraint(
                fields=["rule"], condition=Q(state__in=LIVE_STATES), name="canary_live_once"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "state", "-id"], name="canary_by_state"),
            models.Index(fields=["id"], condition=Q(is_due=True), name="canary_due"),
        ]

    def __str__(self) -> str:
        return f"canary of {self.rule_id} ({self.state})"


class CanaryStage(models.Model):
    """A time in which the share was the same. ``counts`` maps an arm to its numbers, as the last look saw
    them: ``{"exposed", "decided", "failed", ...one for each guardrail}``."""

    canary = models.ForeignKey(Canary, on_delete=models.CASCADE, related_name="stages")
    number = models.PositiveIntegerField()
    phase = models.CharField(max_length=8)
    share = models.PositiveIntegerField()
    counts = models.JSONField(default=dict)
    begun_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["canary", "number"], name="canary_stage_once"),
            models.CheckConstraint(condition=Q(phase__in=PHASES), name="canary_phase_known"),
        ]

    def __str__(self) -> str:
        return f"stage {self.number} of {self.canary_id}"


class Exposure(models.Model):
    """A root task whose call met the condition of a rule on trial: once for each canary, at its first match.

    ``unit`` is the root task's external id as recorded tasks are named, ``unit_digest`` that of the name it
    was assigned by (what ``Canary.kept`` holds), ``share`` the propensity of the canary arm in buckets. The
    first arm counts; ``is_crossed`` says that the task was met in another one later. ``failed`` is null until
    the task's end is known; the guardrails are ``tool_error``, ``slow``, ``retried`` and ``overridden``.
    ``is_due`` asks the worker to look at the task (again).
    """

    workspace = models.ForeignKey(
        "memory.Workspace", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    canary = models.ForeignKey(Canary, on_delete=models.CASCADE, related_name="exposures", db_index=False)
    stage = models.PositiveIntegerField()
    unit = models.CharField(max_length=200)
    unit_digest = models.CharField(max_length=16)
    arm = models.CharField(max_length=7)
    share = models.PositiveIntegerField()
    tool = models.CharField(max_length=200)
    receipt = models.ForeignKey(Receipt, null=True, on_delete=models.SET_NULL, related_name="exposures")
    exposed_at = models.DateTimeField()
    is_crossed = models.BooleanField(default=False)
    task = models.ForeignKey("memory.Task", null=True, on_delete=models.SET_NULL, related_name="+")
    failed = models.BooleanField(null=True)
    tool_error = models.BooleanField(null=True)
    slow = models.BooleanField(null=True)
    retried = models.BooleanField(null=True)
    overridden = models.BooleanField(null=True)
    decided_at = models.DateTimeField(null=True)
    is_due = models.BooleanField(default=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["canary", "unit"], name="exposure_once"),
            models.CheckConstraint(condition=Q(arm__in=ARMS), name="exposure_arm_known"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["canary", "-id"], name="exposure_newest"),
            models.Index(fields=["workspace", "unit"], name="exposure_by_unit"),
            models.Index(fields=["id"], condition=Q(is_due=True), name="exposure_backlog"),
        ]

    def __str__(self) -> str:
        return f"{self.unit} in {self.arm}"


class CanaryEvent(models.Model):
    """A decision about a canary, with the numbers it saw; append-only. ``by`` is a person or the clock."""

    canary = models.ForeignKey(Canary, on_delete=models.CASCADE, related_name="events")
    kind = models.CharField(max_length=12)  # a step of CANARY_TRANSITIONS, brake, alarm, reset or blocked
    numbers = models.JSONField(default=dict)
    by = models.CharField(max_length=200)
    by_kind = models.CharField(max_length=8)
    reason = models.TextField(blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.kind} of {self.canary_id}"


class CanaryLook(models.Model):
    """What one look at the evidence saw, for the chart: ``numbers`` as ``Canary.evidence``.

    Old ones thin out.
    """

    canary = models.ForeignKey(Canary, on_delete=models.CASCADE, related_name="looks")
    at = models.DateTimeField()
    numbers = models.JSONField(default=dict)

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"look at {self.canary_id}"
