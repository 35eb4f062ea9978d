"""Tools, the versions of their input schema, and the validators that watch their calls."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q

from memory.models.accounts import Workspace


class Tool(models.Model):
    """A tool that agents call. Rows appear by themselves, with the schema inferred from good calls."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="tools")
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    input_schema = models.JSONField(default=dict)
    schema_hash = models.CharField(max_length=64, blank=True)
    schema_version = models.PositiveIntegerField(default=1)
    reported_version = models.CharField(max_length=200, blank=True)
    call_count = models.PositiveBigIntegerField(default=0)
    failure_count = models.PositiveBigIntegerField(default=0)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["workspace", "name"], name="tool_name")]

    def __str__(self) -> str:
        return self.name


class ToolSchema(models.Model):
    """One version of a tool's input schema. The newest is the tool's own; ``change`` says what it changed."""

    tool = models.ForeignKey(Tool, on_delete=models.CASCADE, related_name="schemas")
    version = models.PositiveIntegerField()
    reported_version = models.CharField(max_length=200, blank=True)
    input_schema = models.JSONField(default=dict)
    schema_hash = models.CharField(max_length=64)
    change = models.TextField(blank=True)
    seen_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["-version"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["tool", "version"], name="tool_schema_version")
        ]

    def __str__(self) -> str:
        return f"{self.tool} v{self.version}"


class ValidatorQuerySet(models.QuerySet["Validator"]):
    """Filters that read as adjectives."""

    def enabled(self) -> "ValidatorQuerySet":
        """Those that run on every call."""
        return self.filter(is_enabled=True)


class Validator(models.Model):
    """Finds silent failures: a JSON Schema or a CEL check that the calls of a tool must satisfy.

    ``tool`` is a glob. ``body`` is ``{"schema": {...}, "target": "output"}`` for ``json_schema`` and
    ``{"check": "output.size() > 0"}`` for ``cel``; a call fails where the check does not hold. A check that
    cannot be evaluated is neither: ``error_count`` and ``last_error`` tell.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="validators")
    name = models.CharField(max_length=120)
    tool = models.CharField(max_length=200)
    kind = models.CharField(max_length=12, choices=[("json_schema", "JSON Schema"), ("cel", "CEL")])
    body = models.JSONField()
    message = models.CharField(max_length=500, blank=True)
    is_enabled = models.BooleanField(default=True)
    revision = models.PositiveIntegerField(default=1)
    error_count = models.PositiveIntegerField(default=0)
    last_error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=200, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = ValidatorQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["name", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "name"], name="validator_name"),
            models.CheckConstraint(condition=Q(kind__in=["json_schema", "cel"]), name="validator_kind_known"),
        ]

    def __str__(self) -> str:
        return self.name
