"""The shapes of the change requests API."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from corrections.actions.gate import rollout_of
from corrections.api.serializers import ChangeSerializer as FieldChangeSerializer
from corrections.api.serializers import RuleDetailSerializer
from corrections.domain.canaries import ROLLOUTS
from corrections.domain.changes import CHANGE_STATUSES, KINDS, SERVES, WISHES
from corrections.models import ChangeApproval, ChangeComment, ChangeRequest, Rule

CHANGE_FIELDS = (
    "uuid", "rule", "kind", "status", "title", "description", "version", "base_version", "base_status",
    "revision", "is_urgent", "publish_at", "requested_by", "requested_by_kind", "requested_at", "updated_at",
    "decided_by", "decided_at", "decision_reason", "published_at", "failure", "batch", "detail",
)  # fmt: skip


class ChangeRequestSerializer(serializers.ModelSerializer[ChangeRequest]):
    """A change request. ``version`` would be served, ``base_version`` was when it was written."""

    rule = serializers.UUIDField(source="rule.uuid", default=None, allow_null=True)
    version = serializers.IntegerField(source="version.number", default=None, allow_null=True)
    kind = serializers.ChoiceField(choices=KINDS)
    status = serializers.ChoiceField(choices=CHANGE_STATUSES)
    rollout = serializers.SerializerMethodField(
        help_text="How it is published: to all tasks at once, or as a canary; empty where nothing is served."
    )

    @extend_schema_field(serializers.ChoiceField(choices=[*ROLLOUTS, ""]))
    def get_rollout(self, change: ChangeRequest) -> str:
        """As somebody chose, else by the workspace's policy as it is now."""
        return rollout_of(change) if change.kind in SERVES else ""

    class Meta:
        model = ChangeRequest
        fields = (*CHANGE_FIELDS, "rollout")
        read_only_fields = fields


class ApprovalSerializer(serializers.ModelSerializer[ChangeApproval]):
    """Somebody let one revision through; those of earlier revisions do not count."""

    class Meta:
        model = ChangeApproval
        fields = ("revision", "actor_kind", "actor_name", "note", "at")


class CommentSerializer(serializers.ModelSerializer[ChangeComment]):
    """What somebody said."""

    class Meta:
        model = ChangeComment
        fields = ("uuid", "author_kind", "author_name", "text", "at")


class SideSerializer(serializers.Serializer[Any]):
    """One field, three ways: as it was, as it is served now, as this change has it."""

    field = serializers.CharField()
    base = serializers.JSONField(allow_null=True)
    theirs = serializers.JSONField(allow_null=True)
    mine = serializers.JSONField(allow_null=True)
    collides = serializers.BooleanField(help_text="Both changed it, differently.")


class ChangePictureSerializer(serializers.Serializer[Any]):
    """A change request with everything a decision needs."""

    change = ChangeRequestSerializer()
    changes = FieldChangeSerializer(many=True, help_text="From what is served to what would be.")
    missing = serializers.IntegerField(help_text="Approvals that the present revision lacks.")
    approvals = ApprovalSerializer(many=True)
    comments = CommentSerializer(many=True)
    stale = serializers.CharField(allow_blank=True, help_text="Why it is out of date; empty when it is not.")
    sides = SideSerializer(many=True, help_text="The three documents when it is out of date.")


def rollout_field() -> serializers.ChoiceField:
    """How a version is published once it is approved."""
    return serializers.ChoiceField(
        choices=[*ROLLOUTS, ""], required=False, default="",
        help_text="To all tasks at once, or as a canary; empty: as it was asked for, else by the policy.",
    )  # fmt: skip


class AskSerializer(serializers.Serializer[Any]):
    """A wish to change a rule."""

    rule = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=WISHES)
    reason = serializers.CharField(required=False, allow_blank=True, max_length=5_000, default="")
    publish_at = serializers.DateTimeField(required=False, allow_null=True, default=None)
    rollout = rollout_field()


class RevisionSerializer(serializers.Serializer[Any]):
    """The revision that was looked at."""

    revision = serializers.IntegerField(min_value=1)


class YesSerializer(RevisionSerializer):
    """An approval."""

    note = serializers.CharField(required=False, allow_blank=True, max_length=5_000, default="")
    rollout = rollout_field()


class NoSerializer(serializers.Serializer[Any]):
    """A rejection."""

    reason = serializers.CharField(max_length=5_000)


class WhenSerializer(serializers.Serializer[Any]):
    """When to publish; null: as soon as it is approved."""

    publish_at = serializers.DateTimeField(allow_null=True)


class SaySerializer(serializers.Serializer[Any]):
    """A comment."""

    text = serializers.CharField(max_length=5_000)


class ChangePolicySerializer(serializers.Serializer[Any]):
    """How changes are approved in this workspace."""

    required_approvals = serializers.IntegerField(min_value=1, max_value=10, required=False)
    self_approval = serializers.BooleanField(
        required=False, help_text="Authors who may publish count among the approvers."
    )
    key_approval = serializers.BooleanField(required=False, help_text="API keys may approve.")
    urgent_disable = serializers.BooleanField(
        required=False, help_text="Who may publish may disable a rule at once."
    )


class WaitingRuleSerializer(RuleDetailSerializer):
    """A rule, and the change request of it that waits for approval."""

    change = ChangeRequestSerializer()

    class Meta:
        model = Rule
        fields = (*RuleDetailSerializer.Meta.fields, "change")
        read_only_fields = fields
