"""Correction rules: a pointer to the live version, and immutable versions."""

import uuid
from datetime import datetime
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q


class RuleQuerySet(models.QuerySet["Rule"]):
    """Filters that read as adjectives."""

    def active(self) -> "RuleQuerySet":
        """Rules whose live version is served (its validity window is checked when it is matched)."""
        return self.filter(status="active", live_version__isnull=False)

    def live(self) -> "RuleQuerySet":
        """Active rules and those on trial: their live version is served to all tasks or to some."""
        return self.filter(status__in=("active", "canary"), live_version__isnull=False)

    def overdue(self, now: datetime) -> "RuleQuerySet":
        """Live rules whose live version is past ``valid_until``."""
        return self.live().filter(live_version__valid_until__lte=now)


class Rule(models.Model):
    """One correction rule. ``latest_version`` is what is being edited, ``live_version`` what is served.

    ``helped_count`` and ``failed_count`` are applied corrections after which the call went well or failed.
    ``effectiveness`` is what agents are served for ordering (null: not enough data): the lower bound of the
    posterior whose mean is ``effectiveness_score``; ``uplift`` is what is shown of its canary
    (``{"estimate", "lower", "upper", "n_canary", "n_control", "since", "version", "phase"}``). They were
    judged at ``judged_at``, when there were ``judged_count`` outcomes; ``score_due`` asks for it again.
    ``stale_since`` is set while ``stale_reasons`` ask a person to look again; ``reviewed_error_count`` is
    the ``error_count`` that the last person who looked has seen.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey("memory.Workspace", on_delete=models.CASCADE, related_name="rules")
    name = models.CharField(max_length=200)
    status = models.CharField(max_length=8, default="draft")
    latest_version = models.ForeignKey(
        "RuleVersion", null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    live_version = models.ForeignKey("RuleVersion", null=True, on_delete=models.PROTECT, related_name="+")
    patterns = models.ManyToManyField("memory.ErrorPattern", related_name="rules", blank=True)
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=200)
    created_by_kind = models.CharField(max_length=8)
    updated_at = models.DateTimeField()
    match_count = models.PositiveBigIntegerField(default=0)
    applied_count = models.PositiveBigIntegerField(default=0)
    error_count = models.PositiveBigIntegerField(default=0)
    last_error = models.TextField(blank=True)
    last_matched_at = models.DateTimeField(null=True)
    helped_count = models.PositiveBigIntegerField(default=0)
    failed_count = models.PositiveBigIntegerField(default=0)
    effectiveness = models.FloatField(null=True)
    effectiveness_score = models.FloatField(null=True)
    uplift = models.JSONField(null=True)
    score_due = models.BooleanField(default=False)
    judged_count = models.PositiveBigIntegerField(default=0)
    judged_at = models.DateTimeField(null=True)
    stale_since = models.DateTimeField(null=True)
    stale_reasons = models.JSONField(default=list)
    reviewed_at = models.DateTimeField(null=True)
    reviewed_error_count = models.PositiveBigIntegerField(default=0)

    objects = RuleQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(
                    status__in=["draft", "canary", "active", "disabled", "expired", "retired", "deleted"]
                ),
                name="rule_status_known",
            ),
            models.CheckConstraint(
                condition=~Q(status__in=["active", "canary"]) | Q(live_version__isnull=False),
                name="rule_active_has_version",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "status", "-id"], name="rule_by_status"),
            models.Index(
                fields=["workspace", "stale_since"], condition=Q(stale_since__isnull=False), name="rule_stale"
            ),
            models.Index(fields=["workspace", "id"], condition=Q(score_due=True), name="rule_score_due"),
        ]

    def __str__(self) -> str:
        return self.name


class RuleVersion(models.Model):
    """What a rule said at one time. Never changed: an edit is the next version.

    ``body`` is the one validated rule document (``hgmem.rules.Rule``); the other columns are read from it
    for lists and filters.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    rule = models.ForeignKey(Rule, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    body = models.JSONField()
    tool = models.CharField(max_length=200)
    action_type = models.CharField(max_length=40)
    priority = models.IntegerField(default=0)
    valid_from = models.DateTimeField(null=True)
    valid_until = models.DateTimeField(null=True)
    note = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=200)
    created_by_kind = models.CharField(max_length=8)

    class Meta:
        ordering: ClassVar = ["-number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["rule", "number"], name="rule_version_number")
        ]

    def __str__(self) -> str:
        return f"v{self.number}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert only: a version is never changed."""
        if not self._state.adding:
            raise TypeError("Rule versions are immutable: write the next version.")
        super().save(*args, **kwargs)


class RuleDay(models.Model):
    """How often a rule matched on one day (UTC), by when its receipts were issued."""

    rule = models.ForeignKey(Rule, on_delete=models.CASCADE, related_name="days", db_index=False)
    day = models.DateField()
    matches = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["rule", "day"], name="rule_day_once")]

    def __str__(self) -> str:
        return f"{self.day} {self.rule_id}"


class RulesetStamp(models.Model):
    """One row a workspace: goes up in the transaction of every change that is served to agents."""

    workspace = models.OneToOneField(
        "memory.Workspace", on_delete=models.CASCADE, related_name="ruleset_stamp"
    )
    version = models.PositiveBigIntegerField(default=0)
    changed_at = models.DateTimeField()

    def __str__(self) -> str:
        return str(self.version)
