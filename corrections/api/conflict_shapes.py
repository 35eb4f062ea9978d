"""The shapes of conflicts, scans and rulings."""

from typing import Any

from rest_framework import serializers

from corrections.domain.rulings import MAX_REASON_CHARS, VERDICTS
from corrections.models import FINDINGS, ChangeRequest, Conflict, ConflictScan, Ruling
from hgmem.rules.limits import MAX_CONDITION_CHARS


class RulingSerializer(serializers.ModelSerializer[Ruling]):
    """What a person decided. ``expectation`` is what the witness must give from now on."""

    rule_a = serializers.UUIDField(source="rule_a.uuid")
    rule_b = serializers.UUIDField(source="rule_b.uuid", default=None, allow_null=True)
    change = serializers.UUIDField(source="change.uuid", default=None, allow_null=True)
    verdict = serializers.ChoiceField(choices=VERDICTS)
    status = serializers.ChoiceField(choices=["proposed", "active", "ended"])

    class Meta:
        model = Ruling
        fields = (
            "uuid", "verdict", "status", "rule_a", "rule_b", "tool", "witness", "expectation", "reason",
            "expires_at", "change", "made_by", "made_at", "ended_at", "ended_by", "end_reason",
        )  # fmt: skip
        read_only_fields = fields


class ConflictSerializer(serializers.ModelSerializer[Conflict]):
    """A finding about one rule or two. ``frequency`` of ``frequency_of`` recorded calls really met it."""

    rule_a = serializers.UUIDField(source="rule_a.uuid")
    rule_b = serializers.UUIDField(source="rule_b.uuid", default=None, allow_null=True)
    ruling = serializers.UUIDField(source="ruling.uuid", default=None, allow_null=True)
    kind = serializers.ChoiceField(choices=FINDINGS)
    verdict = serializers.ChoiceField(choices=["conflict", "not_proven"])
    status = serializers.ChoiceField(choices=["open", "ruled", "gone"])

    class Meta:
        model = Conflict
        fields = (
            "uuid", "kind", "verdict", "status", "tool", "point", "field", "rule_a", "version_a", "rule_b",
            "version_b", "witness", "detail", "reason", "frequency", "frequency_of", "found_at",
            "updated_at", "gone_at", "ruling",
        )  # fmt: skip
        read_only_fields = fields


class SaidSerializer(serializers.Serializer[Any]):
    """A ruling. ``target`` is the rule that goes first (order), is narrowed, or is retired."""

    verdict = serializers.ChoiceField(choices=VERDICTS)
    reason = serializers.CharField(max_length=MAX_REASON_CHARS)
    target = serializers.ChoiceField(choices=["a", "b"], default="b")
    condition = serializers.CharField(
        required=False, allow_blank=True, allow_null=True, max_length=MAX_CONDITION_CHARS,
        help_text="For narrow: of the narrowed rule. For merge: of the rule that stays.",
    )  # fmt: skip
    expires_at = serializers.DateTimeField(
        required=False, allow_null=True, help_text="Needed to accept a conflict as it is."
    )


class EndRulingSerializer(serializers.Serializer[Any]):
    """Why a ruling ends."""

    reason = serializers.CharField(max_length=MAX_REASON_CHARS)


class AskedRulingSerializer(serializers.ModelSerializer[ChangeRequest]):
    """The change request that a ruling, or its end, goes through."""

    change = serializers.UUIDField(source="uuid")
    status = serializers.CharField()
    ruling = serializers.SerializerMethodField()

    class Meta:
        model = ChangeRequest
        fields = ("change", "title", "status", "ruling")
        read_only_fields = fields

    def get_ruling(self, change: ChangeRequest) -> str:
        """Its uuid."""
        return str(change.detail.get("ruling") or change.detail.get("end"))


class ScanSerializer(serializers.ModelSerializer[ConflictScan]):
    """How far a scan is: ``done`` of ``total`` rules and pairs."""

    status = serializers.ChoiceField(choices=["queued", "running", "done", "failed"])

    class Meta:
        model = ConflictScan
        fields = (
            "uuid", "status", "total", "done", "found", "not_proven", "requested_by", "requested_at",
            "finished_at", "last_error",
        )  # fmt: skip
        read_only_fields = fields
