"""What the API says and hears about rewrites and alerts."""

from typing import Any, ClassVar

from rest_framework import serializers

from memory.domain.lifecycle import PROPOSAL_STATUSES
from memory.domain.rewriting.policy import REWRITERS
from memory.domain.rewriting.triggers import TRIGGERS
from memory.models import Alert, RewriteProposal

MAX_REASON = 2_000
MAX_GOAL = 4_000
MAX_CARRIED = 100
DOCUMENT_HELP = (
    '`{"action": "create_rewrite", "new_nodes": [...], "new_edges": [...], "new_tags": [...], '
    '"reason": "...", "keep_old": true}`. A node is a document, or the name of a node of the old version '
    "that stays; without edges the nodes are walked in order."
)


class PathNameSerializer(serializers.Serializer[Any]):
    """A version of a path, by name."""

    uuid = serializers.UUIDField()
    key = serializers.CharField()
    version = serializers.IntegerField()
    goal = serializers.CharField()
    status = serializers.CharField()


class RewriteSerializer(serializers.ModelSerializer[RewriteProposal]):
    """A rewrite that is wanted, drafted or decided."""

    status = serializers.ChoiceField(choices=PROPOSAL_STATUSES, read_only=True)
    trigger = serializers.ChoiceField(choices=TRIGGERS, read_only=True, help_text="Why it was asked for.")
    path = PathNameSerializer(read_only=True)
    new_path = PathNameSerializer(read_only=True, allow_null=True)
    task = serializers.UUIDField(source="task.uuid", read_only=True, allow_null=True, default=None)
    failure = serializers.UUIDField(source="failure.uuid", read_only=True, allow_null=True, default=None)
    localization = serializers.UUIDField(
        source="localization.uuid", read_only=True, allow_null=True, default=None
    )
    request = serializers.DictField(
        read_only=True, help_text="What the rewriter was given: reason, new_goal, observation."
    )
    guard = serializers.DictField(
        read_only=True,
        help_text="The guard's verdict: passed, said, its checks; and the confidence of the rewriter.",
    )
    proposal = serializers.DictField(read_only=True, allow_null=True, help_text=DOCUMENT_HELP)
    edited = serializers.DictField(
        read_only=True,
        allow_null=True,
        help_text="What a person made of the proposal; this is approved.",
    )
    touched = serializers.ListField(
        child=serializers.DictField(),
        read_only=True,
        help_text="Nodes that go or change and that other active paths use, with those paths.",
    )
    cost = serializers.DictField(read_only=True, help_text="Requests, tokens and price of a model.")
    note = serializers.CharField(source="last_error", read_only=True, help_text="Why nothing was drafted.")

    class Meta:
        model = RewriteProposal
        fields: tuple[str, ...] = (
            "uuid", "path", "trigger", "status", "rewriter", "request", "guard", "proposal", "edited",
            "touched", "cost", "note", "attempt", "revision", "task", "failure", "localization", "new_path",
            "requested_by", "requested_at", "decided_by", "decided_at", "decision_reason",
        )  # fmt: skip
        read_only_fields: tuple[str, ...] = fields


class RewriteDetailSerializer(RewriteSerializer):
    """A rewrite with what a model was asked and said."""

    transcript = serializers.ListField(child=serializers.DictField(), read_only=True)

    class Meta(RewriteSerializer.Meta):
        fields: tuple[str, ...] = (*RewriteSerializer.Meta.fields, "transcript")
        read_only_fields: tuple[str, ...] = fields


class RewriteRequestSerializer(serializers.Serializer[Any]):
    """A wish for a rewrite."""

    reason = serializers.CharField(max_length=MAX_REASON, help_text="What went wrong, or may go wrong.")
    new_goal = serializers.CharField(required=False, allow_blank=True, max_length=MAX_GOAL, default="")
    observation = serializers.CharField(
        required=False, allow_blank=True, max_length=MAX_GOAL, default="", help_text="What is different now."
    )
    rewriter = serializers.ChoiceField(
        choices=REWRITERS, required=False, help_text="Only this rewriter; the workspace's if left out."
    )
    task = serializers.CharField(
        required=False, max_length=200, help_text="External id of the task that failed, if there was one."
    )


class ApprovalSerializer(serializers.Serializer[Any]):
    """A yes to what was seen."""

    revision = serializers.IntegerField(min_value=1, help_text="The proposal's revision that you have seen.")
    carry = serializers.ListField(
        child=serializers.UUIDField(), required=False, default=list, max_length=MAX_CARRIED,
        help_text="Other paths (of `touched`) that get the same change.",
    )  # fmt: skip
    reason = serializers.CharField(required=False, allow_blank=True, max_length=MAX_REASON, default="")


class ApprovedSerializer(serializers.Serializer[Any]):
    """The decided proposal and the new version."""

    rewrite = RewriteSerializer()
    path = PathNameSerializer()


class RejectionSerializer(serializers.Serializer[Any]):
    """A no, with the reason."""

    reason = serializers.CharField(max_length=MAX_REASON)
    revision = serializers.IntegerField(required=False, min_value=1)


class EditSerializer(serializers.Serializer[Any]):
    """Another document in place of the proposed one."""

    document = serializers.DictField(help_text=DOCUMENT_HELP)
    revision = serializers.IntegerField(min_value=1, help_text="The proposal's revision that you have seen.")


class RetrySerializer(serializers.Serializer[Any]):
    """Draft again, whatever the guard said."""

    revision = serializers.IntegerField(required=False, min_value=1)
    rewriter = serializers.ChoiceField(choices=REWRITERS, required=False)


class PolicySerializer(serializers.Serializer[Any]):
    """How the workspace rewrites."""

    auto_approve = serializers.BooleanField(
        required=False,
        help_text="Approve by itself what `align` or `template` propose and nothing speaks against.",
    )
    auto_confidence = serializers.FloatField(
        required=False, min_value=0, max_value=1, help_text="How sure the rewriter must be for that."
    )
    rewriters = serializers.ListField(
        child=serializers.ChoiceField(choices=REWRITERS), required=False, help_text="Tried in this order."
    )
    max_versions = serializers.IntegerField(required=False, min_value=1, max_value=100)
    good_reward = serializers.FloatField(required=False, min_value=0, max_value=1)
    max_fruitless = serializers.IntegerField(required=False, min_value=1, max_value=100)
    penalty = serializers.FloatField(required=False, min_value=0, max_value=1)


class AlertSerializer(serializers.ModelSerializer[Alert]):
    """Something a person should look at."""

    lineage = serializers.UUIDField(source="lineage.uuid", read_only=True, allow_null=True, default=None)
    detail = serializers.DictField(read_only=True, help_text="The numbers it was raised on.")

    class Meta:
        model = Alert
        fields: ClassVar = [
            "uuid", "kind", "title", "detail", "lineage", "raised_at", "closed_at", "closed_by", "note",
        ]  # fmt: skip
        read_only_fields: ClassVar = fields


class CloseAlertSerializer(serializers.Serializer[Any]):
    """Somebody looked."""

    note = serializers.CharField(required=False, allow_blank=True, max_length=MAX_REASON, default="")
    resume = serializers.BooleanField(
        required=False, default=False, help_text="Rewriting of the path by itself goes on."
    )


class AutomaticSerializer(serializers.Serializer[Any]):
    """Whether a path may be rewritten without a person."""

    paused = serializers.BooleanField()
    reason = serializers.CharField(required=False, allow_blank=True, max_length=MAX_REASON, default="")


class AutomaticAnswerSerializer(serializers.Serializer[Any]):
    """How it is now."""

    paused = serializers.BooleanField()
    reason = serializers.CharField()
