"""The shapes of the dependencies API."""

from typing import Any

from rest_framework import serializers

from corrections.models import ManualDependency

KINDS = ("field", "tool", "manual")


class DependencyRuleSerializer(serializers.Serializer[Any]):
    """A rule of the graph."""

    uuid = serializers.UUIDField()
    name = serializers.CharField()
    status = serializers.CharField()
    tool = serializers.CharField(help_text="Its tool or tool pattern; * for any.")
    point = serializers.CharField()
    in_cycle = serializers.BooleanField()


class DependencyEdgeSerializer(serializers.Serializer[Any]):
    """`dependent` needs `provider`."""

    provider = serializers.UUIDField()
    dependent = serializers.UUIDField()
    kind = serializers.ChoiceField(
        choices=KINDS, help_text="It reads a field that is written, is bound to a tool that is led to, or "
        "somebody said so.",
    )  # fmt: skip
    fields_shared = serializers.ListField(child=serializers.CharField(), help_text="Written and read.")
    tool = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(allow_blank=True)
    manual = serializers.UUIDField(allow_null=True, help_text="What to delete, for one that somebody said.")


class DependencyGraphSerializer(serializers.Serializer[Any]):
    """Rules that need one another."""

    rules = DependencyRuleSerializer(many=True)
    edges = DependencyEdgeSerializer(many=True)
    cycles = serializers.ListField(child=serializers.ListField(child=serializers.UUIDField()))
    complete = serializers.BooleanField(
        help_text="False when there are more rules or edges than are looked at."
    )
    unreadable = serializers.IntegerField(help_text="Rules whose document can no longer be read.")


class NewDependencySerializer(serializers.Serializer[Any]):
    """A dependency that somebody knows of."""

    rule = serializers.UUIDField(help_text="The rule that needs the other one.")
    depends_on = serializers.UUIDField()
    reason = serializers.CharField(max_length=500)


class ManualDependencySerializer(serializers.ModelSerializer[ManualDependency]):
    """A dependency that somebody said."""

    rule = serializers.UUIDField(source="rule.uuid")
    depends_on = serializers.UUIDField(source="depends_on.uuid")

    class Meta:
        model = ManualDependency
        fields = ("uuid", "rule", "depends_on", "reason", "created_by", "created_at")
        read_only_fields = fields


class CallNameSerializer(serializers.Serializer[Any]):
    """A recorded call."""

    task = serializers.UUIDField()
    seq = serializers.IntegerField()


class WitnessSerializer(serializers.Serializer[Any]):
    """A call that shows it. `call` is null for one that the analyser made."""

    context = serializers.DictField()
    with_it = serializers.CharField(allow_blank=True, help_text="What the dependent does now.")
    without_it = serializers.CharField(allow_blank=True, help_text="What it would do.")
    call = CallNameSerializer(allow_null=True)


class DependentSerializer(serializers.Serializer[Any]):
    """A rule that may break, and why. Without a witness: not seen in `looked_at` recorded calls."""

    rule = serializers.UUIDField()
    name = serializers.CharField()
    status = serializers.CharField()
    kind = serializers.ChoiceField(choices=KINDS)
    fields_shared = serializers.ListField(child=serializers.CharField(), source="fields")
    tool = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(allow_blank=True)
    looked_at = serializers.IntegerField()
    witness = WitnessSerializer(allow_null=True)


class DependentsSerializer(serializers.Serializer[Any]):
    """Who may break when a rule is disabled or changed."""

    dependents = DependentSerializer(many=True)
