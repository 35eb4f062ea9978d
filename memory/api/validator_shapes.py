"""What the API says and hears about validators."""

from typing import Any

from rest_framework import serializers

from memory.models import Validator

KINDS = ["json_schema", "cel"]
BODY_HELP = (
    '`{"schema": {...}, "target": "input" | "output"}` for json_schema, '
    '`{"check": "output.size() > 0"}` for cel.'
)


class ValidatorSerializer(serializers.ModelSerializer[Validator]):
    """A check that finds silent failures."""

    kind = serializers.ChoiceField(choices=KINDS, read_only=True)
    body = serializers.DictField(read_only=True, help_text=BODY_HELP)

    class Meta:
        model = Validator
        fields = (
            "uuid", "name", "tool", "kind", "body", "message", "is_enabled", "revision", "created_at",
            "created_by", "updated_at",
        )  # fmt: skip
        read_only_fields = fields


class NewValidatorSerializer(serializers.Serializer[Any]):
    """A validator to write."""

    name = serializers.CharField(max_length=120)
    tool = serializers.CharField(max_length=200, help_text="A tool, or a glob such as `search_*`.")
    kind = serializers.ChoiceField(choices=KINDS)
    body = serializers.DictField(help_text=BODY_HELP)
    message = serializers.CharField(required=False, allow_blank=True, max_length=500, default="")


class ChangedValidatorSerializer(serializers.Serializer[Any]):
    """What changes; the rest stays."""

    name = serializers.CharField(required=False, max_length=120)
    tool = serializers.CharField(required=False, max_length=200)
    kind = serializers.ChoiceField(required=False, choices=KINDS)
    body = serializers.DictField(required=False, help_text=BODY_HELP)
    message = serializers.CharField(required=False, allow_blank=True, max_length=500)
    is_enabled = serializers.BooleanField(required=False)
    revision = serializers.IntegerField(
        required=False,
        min_value=1,
        help_text="The revision you have seen; not needed for is_enabled.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A change of the content says which revision it was made from."""
        if "revision" not in attrs and attrs.keys() - {"is_enabled"}:
            raise serializers.ValidationError({"revision": "Say which revision you have seen."})
        return attrs


class CallPlaceSerializer(serializers.Serializer[Any]):
    """A recorded call."""

    task = serializers.UUIDField()
    seq = serializers.IntegerField(min_value=0)


class TryValidatorSerializer(serializers.Serializer[Any]):
    """A validator, and one of: a call (``input``, ``output``), a recorded ``call``, a ``backtest``."""

    name = serializers.CharField(max_length=120, default="draft")
    tool = serializers.CharField(max_length=200, default="*")
    kind = serializers.ChoiceField(choices=KINDS)
    body = serializers.DictField(help_text=BODY_HELP)
    message = serializers.CharField(required=False, allow_blank=True, max_length=500, default="")
    input = serializers.DictField(required=False, default=dict)
    output = serializers.JSONField(required=False, default=None, allow_null=True)
    call = CallPlaceSerializer(required=False)
    backtest = serializers.IntegerField(
        required=False, min_value=1, max_value=2_000, help_text="How many of the newest calls to run it on."
    )


class VerdictsSerializer(serializers.Serializer[Any]):
    """How many calls got which verdict."""

    n = serializers.IntegerField()
    passed = serializers.IntegerField(default=0)
    failed = serializers.IntegerField(default=0)
    skipped = serializers.IntegerField(default=0)
    error = serializers.IntegerField(default=0)


class FailingCallSerializer(CallPlaceSerializer):
    """A recorded call that would fail, and why."""

    detail = serializers.CharField()


class TriedSerializer(serializers.Serializer[Any]):
    """The verdict on one call, or the count of a backtest with the first failing calls."""

    verdict = serializers.ChoiceField(choices=["passed", "failed", "skipped", "error"], required=False)
    detail = serializers.CharField(required=False)
    backtest = VerdictsSerializer(required=False)
    failing = FailingCallSerializer(many=True, required=False)
