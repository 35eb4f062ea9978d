"""The shapes of the rules API."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from corrections.domain.lifecycle import CHOICES
from corrections.models import Rule, RuleVersion
from corrections.queries.ageing import ageing_of
from memory.api.validator_shapes import CallPlaceSerializer

SCORE_HELP = (
    "Mean of the posterior of its success rate. It orders rules; uplift says whether they help. "
    "Null: not enough data."
)
DOCUMENT_HELP = "A rule document (docs/rules.md); the article's form is accepted too."


RULE_FIELDS = (
    "uuid", "name", "status", "latest_version", "live_version", "created_at", "created_by",
    "created_by_kind", "updated_at", "match_count", "applied_count", "error_count", "last_error",
    "last_matched_at", "stale_since", "stale_reasons", "reviewed_at", "effectiveness_score", "uplift",
)  # fmt: skip


class VersionSerializer(serializers.ModelSerializer[RuleVersion]):
    """One immutable version of a rule."""

    document = serializers.JSONField(source="body", help_text=DOCUMENT_HELP)

    class Meta:
        model = RuleVersion
        fields = ("number", "document", "note", "created_at", "created_by", "created_by_kind")


class UpliftSerializer(serializers.Serializer[Any]):
    """Success rate of matched tasks with the rule minus that without, with bounds that hold at any moment."""

    estimate = serializers.FloatField()
    lower = serializers.FloatField(help_text="The number to trust a rule by.")
    upper = serializers.FloatField()
    n_canary = serializers.IntegerField(help_text="Decided tasks with the rule.")
    n_control = serializers.IntegerField(help_text="Decided tasks without it.")
    since = serializers.DateTimeField(help_text="What happened before is left out.")
    version = serializers.IntegerField()
    phase = serializers.ChoiceField(choices=("trial", "holdout"))


class AgeingSerializer(serializers.Serializer[Any]):
    """How old a rule's last match is, in days and in calls of its tool."""

    has_matched = serializers.BooleanField(help_text="False: `since` is when it was first served.")
    since = serializers.DateTimeField()
    days = serializers.IntegerField()
    calls_since = serializers.IntegerField(help_text="Calls of its tool on the days after `since`.")
    matches_lately = serializers.IntegerField(help_text="In the last 30 days, as the next two.")
    calls_lately = serializers.IntegerField()
    per_100 = serializers.FloatField(allow_null=True, help_text="Matches in 100 calls of its tool.")


class RuleSerializer(serializers.ModelSerializer[Rule]):
    """A rule with its latest version; ``live_version`` is the number of the version agents are served."""

    latest_version = VersionSerializer(read_only=True)
    live_version = serializers.IntegerField(source="live_version.number", default=None, allow_null=True)
    status = serializers.ChoiceField(choices=CHOICES)
    effectiveness_score = serializers.FloatField(
        allow_null=True, min_value=0, max_value=1, help_text=SCORE_HELP
    )
    uplift = serializers.SerializerMethodField()

    class Meta:
        model = Rule
        fields = RULE_FIELDS
        read_only_fields = fields

    @extend_schema_field(UpliftSerializer(allow_null=True))
    def get_uplift(self, rule: Rule) -> dict[str, Any] | None:
        """What is known of the live version; null: not enough data."""
        number = rule.live_version.number if rule.live_version else None
        return rule.uplift if rule.uplift and rule.uplift["version"] == number else None


class RuleDetailSerializer(RuleSerializer):
    """A rule with the error patterns it is meant to handle."""

    patterns = serializers.SerializerMethodField()
    ageing = serializers.SerializerMethodField()

    class Meta:
        model = Rule
        fields = (*RULE_FIELDS, "patterns", "ageing")
        read_only_fields = fields

    @extend_schema_field(AgeingSerializer(allow_null=True))
    def get_ageing(self, rule: Rule) -> dict[str, Any] | None:
        """How long it has not matched; null where it is not served."""
        age = ageing_of([rule], now=timezone.now()).get(rule.pk)
        return dict(AgeingSerializer(age).data) if age else None

    def get_patterns(self, rule: Rule) -> list[str]:
        """Uuids of the linked error patterns."""
        return [str(uuid) for uuid in rule.patterns.values_list("uuid", flat=True)]


class DraftSerializer(serializers.Serializer[Any]):
    """A new rule."""

    document = serializers.JSONField(help_text=DOCUMENT_HELP)
    patterns = serializers.ListField(
        child=serializers.UUIDField(), required=False, max_length=100, help_text="Error patterns it handles."
    )
    note = serializers.CharField(required=False, allow_blank=True, max_length=500, default="")


class EditSerializer(serializers.Serializer[Any]):
    """The next version of a rule."""

    document = serializers.JSONField(required=False, help_text=DOCUMENT_HELP)
    base_version = serializers.IntegerField(min_value=1, help_text="The version this was written from.")
    patterns = serializers.ListField(child=serializers.UUIDField(), required=False, max_length=100)
    note = serializers.CharField(required=False, allow_blank=True, max_length=500, default="")


class RollbackSerializer(serializers.Serializer[Any]):
    """The way back to an old version."""

    to_version = serializers.IntegerField(min_value=1)
    base_version = serializers.IntegerField(min_value=1, help_text="The latest version you have seen.")
    note = serializers.CharField(required=False, allow_blank=True, max_length=500, default="")


class ChangeSerializer(serializers.Serializer[Any]):
    """One field that differs between two versions."""

    field = serializers.CharField()
    kind = serializers.ChoiceField(choices=["added", "removed", "changed"])
    old = serializers.JSONField(allow_null=True)
    new = serializers.JSONField(allow_null=True)


class DiffSerializer(serializers.Serializer[Any]):
    """All differences between two versions."""

    changes = ChangeSerializer(many=True)


class ErrorRowSerializer(serializers.Serializer[Any]):
    """One fault and where it is."""

    field = serializers.CharField()
    detail = serializers.CharField()


class CheckSerializer(serializers.Serializer[Any]):
    """A rule document, or a bare condition, to look at without saving it."""

    document = serializers.JSONField(required=False, help_text=DOCUMENT_HELP)
    condition = serializers.CharField(required=False, allow_blank=True, max_length=20_000)


class CheckedSerializer(serializers.Serializer[Any]):
    """What the engine says about a document or a condition."""

    ok = serializers.BooleanField()
    errors = ErrorRowSerializer(many=True)
    reads = serializers.ListField(child=serializers.CharField(), help_text="Fields it reads.")
    writes = serializers.ListField(child=serializers.CharField(), help_text="Fields it writes.")
    description = serializers.CharField(allow_blank=True, help_text="The action in one sentence.")


class SimulateSerializer(serializers.Serializer[Any]):
    """A context, or a recorded call, and the rules to try on it: the live ones unless given."""

    context = serializers.JSONField(required=False, help_text="As for corrections/query.")
    call = CallPlaceSerializer(required=False)
    documents = serializers.ListField(
        child=serializers.JSONField(), required=False, max_length=50, help_text="Instead of the live rules."
    )
    with_live = serializers.BooleanField(default=False, help_text="The documents beside the live rules.")


class BacktestSerializer(serializers.Serializer[Any]):
    """A rule document to try on recorded calls."""

    document = serializers.JSONField(help_text=DOCUMENT_HELP)
    limit = serializers.IntegerField(min_value=1, max_value=2_000, default=500)


class BacktestCallSerializer(CallPlaceSerializer):
    """A recorded call the rule matches."""

    failed = serializers.BooleanField()


class BacktestedSerializer(serializers.Serializer[Any]):
    """How often the rule would have matched. ``calls`` are the newest matches, at most 50."""

    n = serializers.IntegerField(help_text="Calls looked at.")
    failed = serializers.IntegerField(help_text="How many of them failed.")
    matched = serializers.IntegerField()
    matched_failed = serializers.IntegerField()
    matched_good = serializers.IntegerField()
    errors = serializers.IntegerField(help_text="Calls on which its condition could not be evaluated.")
    complete = serializers.BooleanField(help_text="False when older calls were not looked at.")
    calls = BacktestCallSerializer(many=True)


class ContextSerializer(serializers.Serializer[Any]):
    """What the agent is about to do (or, with point ``after``, has done)."""

    point = serializers.ChoiceField(choices=["before", "after", "planning"], default="before")
    tool = serializers.JSONField(required=False, help_text="A name, or {name, version, schema_hash}.")
    input = serializers.DictField(required=False)
    task = serializers.DictField(required=False, help_text="{id, root, goal, tags, agent}")
    env = serializers.DictField(required=False)
    history = serializers.ListField(child=serializers.DictField(), required=False)
    output = serializers.JSONField(required=False)
    error = serializers.JSONField(required=False)
    duration_ms = serializers.FloatField(required=False)
    explain = serializers.BooleanField(default=False, help_text="Add the rules that nearly matched.")


class DecisionSerializer(serializers.Serializer[Any]):
    """What to do instead. ``receipt`` goes into the recorded call, so that the outcome finds its rules."""

    tool = serializers.CharField(allow_null=True)
    input = serializers.DictField(allow_null=True)
    block = serializers.ListField(child=serializers.DictField())
    ask = serializers.ListField(child=serializers.DictField())
    hints = serializers.ListField(child=serializers.DictField())
    insert_steps = serializers.ListField(child=serializers.DictField())
    after_call = serializers.ListField(child=serializers.DictField())
    output = serializers.JSONField(required=False)
    applied = serializers.ListField(child=serializers.DictField())
    suppressed = serializers.ListField(child=serializers.DictField())
    conflicts = serializers.ListField(
        child=serializers.DictField(), help_text="Pairs that want different things and that nobody ruled on."
    )
    errors = serializers.ListField(child=serializers.DictField())
    near_misses = serializers.ListField(child=serializers.DictField(), required=False)
    ruleset_version = serializers.CharField()
    receipt = serializers.CharField(required=False, help_text="Not in a simulation.")
