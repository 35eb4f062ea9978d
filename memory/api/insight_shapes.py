"""The shapes of the insights API: speed, fastest ways, retries."""

from typing import Any

from rest_framework import serializers


class QuantileSerializer(serializers.Serializer[Any]):
    """A quantile in milliseconds with its 95 % interval."""

    ms = serializers.FloatField()
    low_ms = serializers.FloatField()
    high_ms = serializers.FloatField(allow_null=True)


class SpeedLineSerializer(serializers.Serializer[Any]):
    """Calls under one name (a tool, a shape, a day). Null: not enough data."""

    name = serializers.CharField()
    calls = serializers.IntegerField()
    timed = serializers.IntegerField(help_text="Calls whose duration is known.")
    failed = serializers.IntegerField()
    failure_rate = serializers.FloatField(allow_null=True)
    p50 = QuantileSerializer(allow_null=True)
    p95 = QuantileSerializer(allow_null=True)
    mean_ms = serializers.FloatField(allow_null=True)


class SpeedSerializer(serializers.Serializer[Any]):
    """The days looked at; the tools, or of one tool its shapes and days."""

    since = serializers.DateField()
    until = serializers.DateField()
    tools = SpeedLineSerializer(many=True)
    shapes = SpeedLineSerializer(many=True, help_text="Only with `tool`; `*` stands for all other shapes.")
    by_day = SpeedLineSerializer(many=True, help_text="Only with `tool`; days with calls.")


class SituationSerializer(serializers.Serializer[Any]):
    """Where a planner stands. Null or empty: anything."""

    after = serializers.CharField(allow_null=True)
    domain = serializers.CharField(allow_null=True)
    tags = serializers.ListField(child=serializers.CharField())


class WaySerializer(serializers.Serializer[Any]):
    """One way to a successful result. Times in milliseconds; null where no attempt succeeded."""

    way = serializers.CharField(help_text="A call with the shape of its parameters, or tools with > between.")
    steps = serializers.ListField(child=serializers.CharField())
    n = serializers.IntegerField(help_text="Attempts with a known time.")
    succeeded = serializers.IntegerField()
    success_rate = serializers.FloatField()
    success_low = serializers.FloatField()
    success_high = serializers.FloatField()
    mean_ms = serializers.FloatField(help_text="Of one attempt, failed ones included.")
    expected_ms = serializers.FloatField(allow_null=True, help_text="Until a success: mean / success rate.")
    expected_low_ms = serializers.FloatField(allow_null=True)
    expected_high_ms = serializers.FloatField(allow_null=True)
    enough_data = serializers.BooleanField()


class FastestSerializer(serializers.Serializer[Any]):
    """Ways, fastest first; ways with enough data stand before the others."""

    enough_data = serializers.BooleanField(help_text="Whether the first way has enough data.")
    asked = SituationSerializer()
    used = SituationSerializer(help_text="The situation the ways were seen in.")
    widened = serializers.ListField(
        child=serializers.ChoiceField(choices=["tags", "domain", "after"]),
        help_text="What was left out of the question to find enough attempts.",
    )
    ways = WaySerializer(many=True)


class RetryLineSerializer(serializers.Serializer[Any]):
    """What retries cost under one name. Null: not enough data."""

    name = serializers.CharField()
    failures = serializers.IntegerField()
    retries = serializers.IntegerField()
    retry_ms = serializers.FloatField()
    share_of_calls = serializers.FloatField(allow_null=True)
    share_of_time = serializers.FloatField(allow_null=True)
    recovered = serializers.IntegerField(help_text="Chains of retries that ended with a working call.")
    given_up = serializers.IntegerField(help_text="Tasks that retried and never got there.")


class RetryPatternSerializer(RetryLineSerializer):
    """Retries after failures of one error pattern; shares are of all calls looked at."""

    uuid = serializers.UUIDField()
    tool = serializers.CharField()


class RetriesSerializer(serializers.Serializer[Any]):
    """The days looked at, the total, and where it comes from."""

    since = serializers.DateField()
    until = serializers.DateField()
    total = RetryLineSerializer()
    by_day = RetryLineSerializer(many=True)
    tools = RetryLineSerializer(many=True)
    patterns = RetryPatternSerializer(many=True)
