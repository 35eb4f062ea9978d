"""The shapes of the canaries API."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from corrections.domain.canaries import ARMS, BUCKETS, CANARY_STATES, PHASES
from corrections.models import Canary, CanaryEvent, CanaryLook, CanaryStage, Exposure
from corrections.queries import canaries as queries


def share_of(buckets: int) -> float:
    """A share as a fraction of the tasks."""
    return buckets / BUCKETS


@extend_schema_field(OpenApiTypes.DOUBLE)
class ShareField(serializers.ReadOnlyField):
    """Buckets as a fraction of the tasks (0 to 1)."""

    def to_representation(self, value: Any) -> Any:
        """10,000 buckets are all tasks."""
        return share_of(int(value))


class CanarySerializer(serializers.ModelSerializer[Canary]):
    """A version on trial against `baseline` (null: against no rule). `evidence` is what the last look saw."""

    rule = serializers.UUIDField(source="rule.uuid")
    rule_name = serializers.CharField(source="rule.name")
    version = serializers.IntegerField(source="version.number")
    baseline = serializers.IntegerField(source="baseline.number", default=None, allow_null=True)
    change = serializers.UUIDField(source="change.uuid", default=None, allow_null=True)
    state = serializers.ChoiceField(choices=CANARY_STATES)
    share = ShareField(help_text="The part of the matching tasks that gets the version.")

    class Meta:
        model = Canary
        fields = (
            "uuid", "rule", "rule_name", "version", "baseline", "change", "state", "state_reason", "stage",
            "share", "evidence", "requested_by", "requested_at", "started_at", "evidence_since", "ends_at",
            "looked_at", "updated_at", "ended_at", "ended_by",
        )  # fmt: skip
        read_only_fields = fields


class StageSerializer(serializers.ModelSerializer[CanaryStage]):
    """A time in which the share was the same. `counts` by arm: exposed, decided, failed, guardrails."""

    phase = serializers.ChoiceField(choices=PHASES)
    share = ShareField()

    class Meta:
        model = CanaryStage
        fields = ("number", "phase", "share", "counts", "begun_at", "ended_at")
        read_only_fields = fields


class CanaryEventSerializer(serializers.ModelSerializer[CanaryEvent]):
    """A decision, with the numbers it saw."""

    class Meta:
        model = CanaryEvent
        fields = ("kind", "at", "by", "by_kind", "reason", "numbers")
        read_only_fields = fields


class LookSerializer(serializers.ModelSerializer[CanaryLook]):
    """What one look at the evidence saw."""

    class Meta:
        model = CanaryLook
        fields = ("at", "numbers")
        read_only_fields = fields


class CanaryDetailSerializer(CanarySerializer):
    """A canary with its stages, decisions and looks, oldest first, and the policy it began with."""

    stages = serializers.SerializerMethodField()
    events = serializers.SerializerMethodField()
    looks = serializers.SerializerMethodField()

    class Meta:
        model = Canary
        fields = (*CanarySerializer.Meta.fields, "policy", "stages", "events", "looks")
        read_only_fields = fields

    @extend_schema_field(StageSerializer(many=True))
    def get_stages(self, canary: Canary) -> Any:
        """In order."""
        return StageSerializer(queries.list_stages(canary), many=True).data

    @extend_schema_field(CanaryEventSerializer(many=True))
    def get_events(self, canary: Canary) -> Any:
        """The newest 200."""
        return CanaryEventSerializer(queries.list_events(canary), many=True).data

    @extend_schema_field(LookSerializer(many=True))
    def get_looks(self, canary: Canary) -> Any:
        """The newest 400; old ones thin out."""
        return LookSerializer(queries.list_looks(canary), many=True).data


class ExposureSerializer(serializers.ModelSerializer[Exposure]):
    """A root task that met the condition. `failed` and the guardrails are null until its end is known."""

    arm = serializers.ChoiceField(choices=ARMS)
    share = ShareField()
    task = serializers.UUIDField(source="task.uuid", default=None, allow_null=True)

    class Meta:
        model = Exposure
        fields = (
            "unit", "arm", "stage", "share", "tool", "exposed_at", "is_crossed", "task", "failed",
            "tool_error", "slow", "retried", "overridden", "decided_at",
        )  # fmt: skip
        read_only_fields = fields


class SteerSerializer(serializers.Serializer[Any]):
    """Why."""

    reason = serializers.CharField(max_length=2_000)


class ExtendSerializer(SteerSerializer):
    """How much longer."""

    days = serializers.IntegerField(min_value=1, max_value=365)


class ShareSerializer(SteerSerializer):
    """Another share."""

    share = serializers.FloatField(help_text="A part of the matching tasks, above 0 and below 1.")


class ShadowSerializer(SteerSerializer):
    """A version to run in shadow."""

    version = serializers.IntegerField(min_value=1)


class CanaryPolicySerializer(serializers.Serializer[Any]):
    """How the workspace runs its canaries."""

    start = serializers.ChoiceField(
        choices=["agents", "all", "never"], required=False,
        help_text="Which versions begin as a canary: what agents wrote, all, or none.",
    )  # fmt: skip
    first_share = serializers.FloatField(required=False)
    full_share = serializers.FloatField(required=False)
    min_look = serializers.IntegerField(required=False, help_text="Decided tasks before the first ramp.")
    alpha = serializers.FloatField(required=False, help_text="The bound on false verdicts.")
    max_days = serializers.IntegerField(required=False)
    holdout = serializers.FloatField(required=False, help_text="Tasks that go without a promoted rule.")
    rare_per_day = serializers.FloatField(
        required=False, help_text="A rule that matches fewer tasks a day begins at the full share."
    )
    shadow_first = serializers.BooleanField(required=False)
    shadow_tasks = serializers.IntegerField(required=False)
    shadow_hours = serializers.FloatField(required=False)
