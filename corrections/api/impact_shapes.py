"""The shapes of the impacts API."""

from typing import Any

from rest_framework import serializers

from corrections.domain.impacts import DECISIONS
from corrections.models import ToolImpact

CHANGES = ("gone", "type", "required", "added")


class ImpactSerializer(serializers.ModelSerializer[ToolImpact]):
    """A tool changed: schema versions are those of `tools/{uuid}/schemas`. Open while `closed_at` is null."""

    tool = serializers.UUIDField(source="tool.uuid")
    tool_name = serializers.CharField(source="tool.name")
    decision = serializers.ChoiceField(choices=[*DECISIONS, ""])

    class Meta:
        model = ToolImpact
        fields = (
            "uuid", "tool", "tool_name", "from_version", "to_version", "opened_at", "closed_at", "closed_by",
            "decision", "reason",
        )  # fmt: skip
        read_only_fields = fields


class FieldChangeSerializer(serializers.Serializer[Any]):
    """A field of the input that differs."""

    path = serializers.CharField()
    kind = serializers.ChoiceField(choices=CHANGES)
    old = serializers.CharField(allow_blank=True)
    new = serializers.CharField(allow_blank=True)


class RuleImpactSerializer(serializers.Serializer[Any]):
    """A rule bound to the tool, and the changed fields that it reads and writes."""

    rule = serializers.UUIDField(source="rule.uuid")
    name = serializers.CharField(source="rule.name")
    status = serializers.CharField(source="rule.status")
    version = serializers.IntegerField(source="version.number")
    binding = serializers.ChoiceField(
        source="effect.binding", choices=["name", "pattern", "any", "leads_to"],
        help_text="Its scope names the tool, fits it by a pattern or is any tool; or it leads to it.",
    )  # fmt: skip
    affected = serializers.BooleanField(source="is_affected")
    reads = FieldChangeSerializer(source="effect.reads", many=True)
    writes = FieldChangeSerializer(source="effect.writes", many=True)
    out_of_range = serializers.BooleanField(source="effect.out_of_range")
    fault = serializers.CharField(allow_blank=True)


class ValidatorImpactSerializer(serializers.Serializer[Any]):
    """A validator that watches the tool."""

    validator = serializers.UUIDField(source="validator.uuid")
    name = serializers.CharField(source="validator.name")
    enabled = serializers.BooleanField(source="validator.is_enabled")
    reads = FieldChangeSerializer(many=True)


class ImpactViewSerializer(serializers.Serializer[Any]):
    """All that hangs on the change. `calls` good calls since then say what changed, or (0) schemas do."""

    impact = ImpactSerializer()
    version = serializers.CharField(allow_blank=True, help_text="What callers report now.")
    old_version = serializers.CharField(allow_blank=True)
    change = serializers.CharField(allow_blank=True)
    calls = serializers.IntegerField(source="comparison.calls")
    changes = FieldChangeSerializer(source="comparison.changes", many=True)
    nothing_affected = serializers.BooleanField(source="is_nothing")
    rules = RuleImpactSerializer(many=True)
    validators = ValidatorImpactSerializer(many=True)
    paths = serializers.IntegerField(
        source="paths.count", help_text="Active paths that call it, up to 1,001."
    )


class DecideImpactSerializer(serializers.Serializer[Any]):
    """One thing to do to some or all affected rules."""

    decision = serializers.ChoiceField(choices=DECISIONS)
    reason = serializers.CharField(max_length=2_000)
    rules = serializers.ListField(
        child=serializers.UUIDField(), required=False, max_length=5_000,
        help_text="Rules bound to the tool; left out: all affected ones.",
    )  # fmt: skip
    only_new = serializers.BooleanField(default=False, help_text="Rebind to the new version alone.")
    close = serializers.BooleanField(default=True, help_text="Nothing more is to be decided.")


class UndoImpactSerializer(serializers.Serializer[Any]):
    """Why it is taken back."""

    reason = serializers.CharField(max_length=2_000)


class SkippedSerializer(serializers.Serializer[Any]):
    """A rule that the decision could not be done to."""

    rule = serializers.UUIDField()
    why = serializers.CharField()


class ImpactDecidedSerializer(serializers.Serializer[Any]):
    """What was done. `waits` change requests of `batch` still need an approval."""

    impact = ImpactSerializer()
    decision = serializers.CharField()
    rules = serializers.ListField(child=serializers.UUIDField())
    skipped = SkippedSerializer(many=True)
    batch = serializers.UUIDField(allow_null=True)
    waits = serializers.IntegerField()
