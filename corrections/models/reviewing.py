"""What people add to the rules: dependencies they know of, who looks at what, tools that changed."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from corrections.models.rules import Rule


class ManualDependency(models.Model):
    """Somebody says that ``rule`` needs ``depends_on``, beside what read and write sets tell."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(
        "memory.Workspace", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    rule = models.ForeignKey(Rule, on_delete=models.CASCADE, related_name="needs")
    depends_on = models.ForeignKey(Rule, on_delete=models.CASCADE, related_name="needed_by")
    reason = models.CharField(max_length=500)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["rule", "depends_on"], name="dependency_once"),
            models.CheckConstraint(condition=~Q(rule=F("depends_on")), name="dependency_on_another"),
        ]
        indexes: ClassVar = [models.Index(fields=["workspace", "-id"], name="dependency_newest")]

    def __str__(self) -> str:
        return f"{self.rule_id} needs {self.depends_on_id}"


class Assignment(models.Model):
    """Who looks at one item of the review inbox. ``item_kind`` and ``item_uuid`` name it."""

    workspace = models.ForeignKey(
        "memory.Workspace", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    item_kind = models.CharField(max_length=10)  # rewrite | proposal | change | conflict | alert | ...
    item_uuid = models.UUIDField()
    assignee = models.ForeignKey("memory.Member", on_delete=models.CASCADE, related_name="+")
    assigned_by = models.CharField(max_length=200)
    assigned_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "item_kind", "item_uuid"], name="assigned_once"),
        ]

    def __str__(self) -> str:
        return f"{self.item_kind} {self.item_uuid}"


class ToolImpact(models.Model):
    """A tool's schema changed: what is bound to it has to be looked at until somebody closes this.

    Versions are those of ``memory.ToolSchema``.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(
        "memory.Workspace", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    tool = models.ForeignKey("memory.Tool", on_delete=models.CASCADE, related_name="impacts")
    from_version = models.PositiveIntegerField()
    to_version = models.PositiveIntegerField()
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)
    closed_by = models.CharField(max_length=200, blank=True)
    decision = models.CharField(max_length=10, blank=True)  # disable | requeue | rebind | keep
    reason = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["tool", "to_version"], name="impact_once"),
        ]
        indexes: ClassVar = [models.Index(fields=["workspace", "-id"], name="impact_newest")]

    def __str__(self) -> str:
        return f"{self.tool} v{self.from_version} to v{self.to_version}"


class ItemComment(models.Model):
    """What somebody said about an item of the review inbox (a change request has comments of its own)."""

    workspace = models.ForeignKey(
        "memory.Workspace", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    item_kind = models.CharField(max_length=10)
    item_uuid = models.UUIDField()
    author_name = models.CharField(max_length=200)
    text = models.TextField()
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "item_kind", "item_uuid"], name="item_comments"),
        ]

    def __str__(self) -> str:
        return f"{self.author_name}: {self.text[:60]}"
