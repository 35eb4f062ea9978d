"""The shapes of rule proposals in the API."""

from typing import Any, ClassVar

from rest_framework import serializers

from corrections.api.serializers import DOCUMENT_HELP
from corrections.domain.proposing import PROPOSAL_STATUSES, SOURCES
from corrections.models import RuleProposal
from corrections.queries.proposals import calls_of_proposal
from hgmem.rules import ACTION_TYPES
from memory.api.validator_shapes import CallPlaceSerializer

MAX_REASON = 2_000
MAX_EVIDENCE = 100
ACTION_NAMES = list(ACTION_TYPES)


class BacktestFiguresSerializer(serializers.Serializer[Any]):
    """What it would have done: ``caught`` of ``failures`` failing calls, ``hit`` of ``good`` good ones."""

    caught = serializers.IntegerField()
    failures = serializers.IntegerField()
    hit = serializers.IntegerField()
    good = serializers.IntegerField()
    runs = serializers.IntegerField(help_text="Tasks in which it catches a failure.")
    warning = serializers.CharField(allow_blank=True, help_text="Not empty when it would hit good calls.")


class ProposalSerializer(serializers.ModelSerializer[RuleProposal]):
    """A rule that nobody has approved yet. ``rule`` and ``change`` are what accepting it made."""

    source = serializers.ChoiceField(choices=SOURCES)
    status = serializers.ChoiceField(choices=PROPOSAL_STATUSES)
    document = serializers.DictField(help_text=DOCUMENT_HELP)
    backtest = serializers.SerializerMethodField()
    rule = serializers.UUIDField(source="rule.uuid", default=None, allow_null=True)
    change = serializers.UUIDField(source="change.uuid", default=None, allow_null=True)
    error = serializers.CharField(source="last_error", help_text="What went wrong with a draft or backtest.")

    class Meta:
        model = RuleProposal
        fields: ClassVar = [
            "uuid", "source", "status", "name", "tool", "action_type", "document", "backtest",
            "times_proposed", "reason", "proposed_by", "proposed_at", "updated_at", "decided_by",
            "decided_at", "decision_reason", "rule", "change", "error",
        ]  # fmt: skip
        read_only_fields = fields

    def get_backtest(self, row: RuleProposal) -> "BacktestFiguresSerializer":
        """The figures, and a warning where good calls would be hit."""
        return figures_of(row)  # type: ignore[return-value]


def figures_of(row: RuleProposal) -> dict[str, Any]:
    """The backtest of a proposal in figures."""
    names = ("caught", "failures", "hit", "good", "runs")
    return {**{name: getattr(row, name) for name in names}, "warning": warning_of(row)}


def warning_of(row: RuleProposal) -> str:
    """The sentence about good calls that would be hit, "" where there are none."""
    if not row.hit:
        return ""
    return f"This rule would hit {row.hit} of {row.good} calls that went well."


class ProposalCallSerializer(CallPlaceSerializer):
    """A recorded call of a backtest."""

    role = serializers.ChoiceField(choices=["caught", "missed", "hit"])
    error = serializers.CharField(allow_blank=True, help_text="What went wrong; empty for a good call.")


class ProposalDetailSerializer(ProposalSerializer):
    """A proposal with the calls of its backtest (the newest 200 of each role) and its error patterns."""

    calls = serializers.SerializerMethodField()
    patterns = serializers.SerializerMethodField()
    transcript = serializers.ListField(child=serializers.DictField(), help_text="What a model said.")
    cost = serializers.DictField(help_text="Requests, tokens and price of a model.")

    class Meta(ProposalSerializer.Meta):
        fields: ClassVar = [*ProposalSerializer.Meta.fields, "calls", "patterns", "transcript", "cost"]
        read_only_fields = fields

    def get_calls(self, row: RuleProposal) -> list[dict[str, Any]]:
        """Newest first within each role."""
        return [
            {"task": str(call.task_uuid), "seq": call.seq, "role": call.role, "error": call.message}
            for calls in calls_of_proposal(row).values()
            for call in calls
        ]

    def get_patterns(self, row: RuleProposal) -> list[str]:
        """Uuids of the error patterns of what it catches."""
        return [str(uuid) for uuid in row.patterns.values_list("uuid", flat=True)]


class ProposeSerializer(serializers.Serializer[Any]):
    """A rule that an agent proposes."""

    document = serializers.JSONField(help_text=DOCUMENT_HELP)
    reason = serializers.CharField(max_length=MAX_REASON, help_text="For the person who decides.")
    evidence = serializers.ListField(
        child=CallPlaceSerializer(), required=False, max_length=MAX_EVIDENCE, default=list,
        help_text="Recorded calls that show the mistake.",
    )  # fmt: skip


class AcceptSerializer(serializers.Serializer[Any]):
    """A yes, to the proposed document or to an edited one."""

    document = serializers.JSONField(required=False, help_text=DOCUMENT_HELP)
    note = serializers.CharField(required=False, allow_blank=True, max_length=500, default="")


class RejectSerializer(serializers.Serializer[Any]):
    """A no, with the reason."""

    reason = serializers.CharField(max_length=MAX_REASON)


class AskModelSerializer(serializers.Serializer[Any]):
    """What a language model should write a rule against."""

    pattern = serializers.UUIDField(help_text="An error pattern.")
