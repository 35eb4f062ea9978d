"""Weak spots: error patterns that hang together, and the hours they are found from."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q

from memory.models.accounts import Workspace
from memory.models.failures import ErrorPattern


class PatternHour(models.Model):
    """How often a pattern happened in one hour; ``hour`` counts the hours since 1970, in UTC."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    pattern = models.ForeignKey(ErrorPattern, on_delete=models.CASCADE, related_name="+", db_index=False)
    hour = models.PositiveIntegerField()
    failures = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["pattern", "hour"], name="pattern_hour_once")
        ]
        indexes: ClassVar = [models.Index(fields=["workspace", "-hour"], name="pattern_hour_newest")]

    def __str__(self) -> str:
        return f"pattern {self.pattern_id} in hour {self.hour}"


class ToolHour(models.Model):
    """How often a tool was called in one hour: what the failures of that hour are measured against."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    tool = models.CharField(max_length=200)
    hour = models.PositiveIntegerField()
    calls = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "tool", "hour"], name="tool_hour_once")
        ]
        indexes: ClassVar = [models.Index(fields=["workspace", "-hour"], name="tool_hour_newest")]

    def __str__(self) -> str:
        return f"{self.tool} in hour {self.hour}"


class WeakSpotScan(models.Model):
    """The search for weak spots of a workspace: when it ran, over what, and who is at it now.

    ``seen`` says what it knew (failures and links of the patterns), so that nothing new means nothing to do;
    ``left_out`` patterns were too many to look at.
    """

    workspace = models.OneToOneField(Workspace, on_delete=models.CASCADE, primary_key=True, related_name="+")
    leased_until = models.DateTimeField(null=True)
    scanned_at = models.DateTimeField(null=True)
    seen = models.CharField(max_length=120, blank=True)
    patterns = models.PositiveIntegerField(default=0)
    left_out = models.PositiveIntegerField(default=0)
    active_hours = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"weak spots of workspace {self.workspace_id}"


class WeakSpot(models.Model):
    """Patterns behind which there may be one cause. Keeps its uuid while most of its patterns stay.

    ``bonds`` counts what holds it together by kind (alike, identifier, burst); ``words`` are the identifiers
    that its patterns share, ``burst_hours`` the hours in which they burst together, ``edges`` the strongest
    bonds (pattern, pattern, kind, strength, word) by pattern uuid. ``lately`` counts failures of the last
    week before the scan. ``tool_count`` is 1 for a spot within one tool.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="weak_spots", db_index=False
    )
    status = models.CharField(max_length=8, default="open")
    why_resolved = models.CharField(max_length=8, blank=True)  # quiet | apart
    title = models.CharField(max_length=500)
    tools = models.JSONField(default=list)
    tool_count = models.PositiveIntegerField(default=0)
    pattern_count = models.PositiveIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)
    lately = models.PositiveIntegerField(default=0)
    bonds = models.JSONField(default=dict)
    words = models.JSONField(default=list)
    burst_hours = models.JSONField(default=list)
    edges = models.JSONField(default=list)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    found_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-failures", "-id"]
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(status__in=["open", "resolved"]), name="weak_spot_status")
        ]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "status", "-failures", "-id"], name="weak_spot_by_failures")
        ]

    def __str__(self) -> str:
        return self.title


class WeakSpotMember(models.Model):
    """A pattern of a weak spot, and how often it had happened when the spot was last looked at."""

    spot = models.ForeignKey(WeakSpot, on_delete=models.CASCADE, related_name="members", db_index=False)
    pattern = models.ForeignKey(ErrorPattern, on_delete=models.CASCADE, related_name="weak_spots")
    failures = models.PositiveIntegerField(default=0)

    class Meta:
        ordering: ClassVar = ["-failures", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["spot", "pattern"], name="weak_spot_member_once")
        ]

    def __str__(self) -> str:
        return f"pattern {self.pattern_id} of spot {self.spot_id}"
