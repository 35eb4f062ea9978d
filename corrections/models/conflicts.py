"""What the analyser found about rules, what people ruled on it, and how far the analysis is."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q

from corrections.models.changes import ChangeRequest
from corrections.models.rules import Rule

FINDINGS = (
    "contradictory", "redundant", "subsumed", "shadowed", "dead", "always_on", "interference", "loop",
    "can_error",
)  # fmt: skip
RULINGS = ("a_wins", "b_wins", "order", "narrow", "merge", "retire", "accept")


class Conflict(models.Model):
    """One finding about a rule (``rule_b`` null) or about two, for the versions named.

    ``verdict`` is ``conflict`` (``witness`` is a context that the real evaluator confirmed) or
    ``not_proven`` (``reason`` says what stood in the way). ``detail`` says what each rule would do.
    ``frequency`` of ``frequency_of`` recorded calls really met it (null: not counted yet).
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(
        "memory.Workspace", on_delete=models.CASCADE, related_name="conflicts", db_index=False
    )
    dedupe = models.CharField(max_length=64)
    kind = models.CharField(max_length=14)
    verdict = models.CharField(max_length=10)
    status = models.CharField(max_length=6, default="open")  # open | ruled | gone
    tool = models.CharField(max_length=200)
    point = models.CharField(max_length=8)
    field = models.CharField(max_length=300, blank=True)
    rule_a = models.ForeignKey(Rule, on_delete=models.CASCADE, related_name="+")
    version_a = models.PositiveIntegerField()
    rule_b = models.ForeignKey(Rule, null=True, on_delete=models.CASCADE, related_name="+")
    version_b = models.PositiveIntegerField(null=True)
    witness = models.JSONField(null=True)
    detail = models.JSONField(default=dict)
    reason = models.TextField(blank=True)
    frequency = models.PositiveIntegerField(null=True)
    frequency_of = models.PositiveIntegerField(null=True)
    found_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    gone_at = models.DateTimeField(null=True)
    ruling = models.ForeignKey("Ruling", null=True, on_delete=models.SET_NULL, related_name="conflicts")

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "dedupe"], name="conflict_once"),
            models.CheckConstraint(condition=Q(kind__in=FINDINGS), name="conflict_kind_known"),
            models.CheckConstraint(
                condition=Q(verdict__in=["conflict", "not_proven"]), name="conflict_verdict_known"
            ),
            models.CheckConstraint(
                condition=Q(status__in=["open", "ruled", "gone"]), name="conflict_status_known"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "status", "-frequency"], name="conflict_by_status"),
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.rule_a_id} and {self.rule_b_id}"


class Ruling(models.Model):
    """What a person decided about a conflict, with the witness as a regression test.

    ``expectation`` is what the witness must give from now on (who applies, who is suppressed, the effective
    input): every later change has to keep it. ``change`` is the request it came through.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(
        "memory.Workspace", on_delete=models.CASCADE, related_name="rulings", db_index=False
    )
    verdict = models.CharField(max_length=8)
    status = models.CharField(max_length=10, default="proposed")  # proposed | active | ended
    rule_a = models.ForeignKey(Rule, on_delete=models.CASCADE, related_name="+")
    rule_b = models.ForeignKey(Rule, null=True, on_delete=models.CASCADE, related_name="+")
    tool = models.CharField(max_length=200)
    witness = models.JSONField(null=True)
    expectation = models.JSONField(default=dict)
    reason = models.TextField()
    expires_at = models.DateTimeField(null=True)
    change = models.ForeignKey(ChangeRequest, null=True, on_delete=models.SET_NULL, related_name="rulings")
    made_by = models.CharField(max_length=200)
    made_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    ended_by = models.CharField(max_length=200, blank=True)
    end_reason = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(verdict__in=RULINGS), name="ruling_verdict_known"),
            models.CheckConstraint(
                condition=Q(status__in=["proposed", "active", "ended"]), name="ruling_status_known"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["workspace", "status", "-id"], name="ruling_by_status")]

    def __str__(self) -> str:
        return f"{self.verdict} ({self.status})"


class ConflictScan(models.Model):
    """One run of the analyser: of everything, or of one rule against its neighbours. ``done`` of ``total``
    pairs; ``plan`` holds the ids of the versions looked at, fixed when the run begins."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(
        "memory.Workspace", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    rule = models.ForeignKey(Rule, null=True, on_delete=models.CASCADE, related_name="+")
    version = models.PositiveIntegerField(null=True)
    stamp = models.PositiveBigIntegerField(default=0)
    status = models.CharField(max_length=8, default="queued")  # queued | running | done | failed
    plan = models.JSONField(default=list)
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    found = models.PositiveIntegerField(default=0)
    not_proven = models.PositiveIntegerField(default=0)
    requested_by = models.CharField(max_length=200)
    requested_at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    last_error = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(status__in=["queued", "running", "done", "failed"]), name="scan_status_known"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "-id"], name="scan_newest"),
            models.Index(fields=["id"], condition=Q(status__in=["queued", "running"]), name="scan_backlog"),
        ]

    def __str__(self) -> str:
        return f"scan {self.pk} ({self.status})"
