"""The shapes of the localization API."""

from typing import Any

from rest_framework import serializers

from memory.domain.locating.review import VERDICTS
from memory.models import Localization, PathUse

RESULTS = ["unknown", "success", "failure"]
KINDS = ["found", "template", "nothing"]


class NamedPathSerializer(serializers.Serializer[Any]):
    """A path that an answer named: its score and the parts it is made of, each between 0 and 1."""

    path = serializers.UUIDField()
    score = serializers.FloatField()
    parts = serializers.DictField(child=serializers.FloatField())


class LocalizationSerializer(serializers.ModelSerializer[Localization]):
    """A question and its answer: what was taken, what came of it, what a reviewer said."""

    kind = serializers.ChoiceField(choices=KINDS)
    candidates = NamedPathSerializer(many=True)
    avoid = NamedPathSerializer(many=True)
    query = serializers.DictField(help_text="The question as asked.")
    weights = serializers.DictField(child=serializers.FloatField())
    task = serializers.CharField(source="task_name", help_text="The external id of the task, if it was said.")
    taken = serializers.UUIDField(source="taken.uuid", default=None, allow_null=True)
    outcome = serializers.ChoiceField(choices=RESULTS)
    verdict = serializers.ChoiceField(choices=list(VERDICTS), allow_blank=True)
    relevant = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = Localization
        fields: tuple[str, ...] = (
            "uuid", "goal", "query", "kind", "candidates", "avoid", "embedder", "weights", "took_ms", "task",
            "taken", "outcome", "sampled", "verdict", "relevant", "review_note", "reviewed_by",
            "reviewed_at", "asked_by", "asked_at",
        )  # fmt: skip
        read_only_fields: tuple[str, ...] = fields


class FeedbackSerializer(serializers.Serializer[Any]):
    """Which path was followed, and how the path itself did, where the agent can tell."""

    taken = serializers.UUIDField(allow_null=True, help_text="Null: none of them.")
    task = serializers.CharField(
        required=False, allow_blank=True, max_length=200, default="",
        help_text="External id of the task; the one named in the question unless given.",
    )  # fmt: skip
    result = serializers.ChoiceField(choices=RESULTS, default="unknown")
    reward = serializers.FloatField(required=False, allow_null=True, min_value=0, max_value=1, default=None)


class PathUseSerializer(serializers.ModelSerializer[PathUse]):
    """A task that followed a path. ``result`` is what counts, ``said_result`` the agent's word."""

    path = serializers.UUIDField(source="path.uuid")
    task = serializers.CharField(source="task_name")
    said_result = serializers.ChoiceField(choices=RESULTS)
    result = serializers.ChoiceField(choices=RESULTS)

    class Meta:
        model = PathUse
        fields: tuple[str, ...] = (
            "path", "task", "said_result", "said_reward", "result", "reward", "used_at", "settled_at",
        )  # fmt: skip
        read_only_fields: tuple[str, ...] = fields


class FeedbackGivenSerializer(serializers.Serializer[Any]):
    """The localization as it is now, and the use that was noted (null when no path was taken)."""

    localization = LocalizationSerializer()
    use = PathUseSerializer(allow_null=True)


class ReviewSerializer(serializers.Serializer[Any]):
    """A person's word about an answer of the weekly sample."""

    verdict = serializers.ChoiceField(choices=list(VERDICTS))
    relevant = serializers.ListField(
        child=serializers.UUIDField(), required=False, max_length=100, default=list,
        help_text="The paths that are right, answered or not.",
    )  # fmt: skip
    note = serializers.CharField(required=False, allow_blank=True, max_length=2_000, default="")
