"""Repeated errors over the API: the same numbers as the page."""

from typing import Any, ClassVar

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from corrections.queries.repeats import Change, list_changes
from memory.api.access import workspace_of
from memory.api.insights import DAYS, TOOL, read_days
from memory.api.resources import describes, text_filter, text_params
from memory.domain.insights.repeating import repeat_json, repeats_by_day, repeats_of, side_json
from memory.queries.insights_repeats import (
    RepeatsAsked,
    repeats_of_days,
    repeats_of_names,
    repeats_of_patterns,
)
from memory.queries.patterns import find_pattern_id


class RepeatLineSerializer(serializers.Serializer[Any]):
    """One line; rates are null where there is not enough data."""

    name = serializers.CharField()
    calls = serializers.IntegerField()
    failures = serializers.IntegerField()
    repeats = serializers.IntegerField(help_text="Failures whose pattern an earlier task had met.")
    failure_rate = serializers.FloatField(allow_null=True)
    repeat_rate = serializers.FloatField(allow_null=True)
    repeat_low = serializers.FloatField(allow_null=True, help_text="95 % interval (Wilson).")
    repeat_high = serializers.FloatField(allow_null=True)


class RepeatPatternSerializer(RepeatLineSerializer):
    """One error pattern; its rates are of all calls asked about."""

    uuid = serializers.UUIDField()
    tool = serializers.CharField(allow_blank=True)


class RepeatsSerializer(serializers.Serializer[Any]):
    """The days looked at, the total, and where it comes from."""

    since = serializers.DateField()
    until = serializers.DateField()
    total = RepeatLineSerializer()
    by_day = RepeatLineSerializer(many=True)
    tools = RepeatLineSerializer(many=True)
    agents = RepeatLineSerializer(many=True)
    patterns = RepeatPatternSerializer(many=True)


class RepeatSideSerializer(serializers.Serializer[Any]):
    """One side of a comparison: failures of the rule's patterns among the calls of their tools."""

    calls = serializers.IntegerField()
    failures = serializers.IntegerField()
    rate = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class RuleRepeatsSerializer(serializers.Serializer[Any]):
    """A rule's comparison: 30 days before and after the hour in which it was first served."""

    rule = serializers.UUIDField()
    name = serializers.CharField()
    tools = serializers.ListField(child=serializers.CharField())
    served_at = serializers.DateTimeField()
    before = RepeatSideSerializer()
    after = RepeatSideSerializer()
    enough_data = serializers.BooleanField()
    canary = serializers.UUIDField(allow_null=True, help_text="Its newest canary: the better evidence.")


class RulesRepeatsSerializer(serializers.Serializer[Any]):
    """The rules that were served last and are linked to error patterns."""

    rules = RuleRepeatsSerializer(many=True)


class RepeatsInsight(APIView):
    """How often known errors are repeated."""

    actions: ClassVar = {"GET": "look"}

    @describes(
        "insights", "Repeat-error rate over time", {200: RepeatsSerializer},
        parameters=[
            TOOL, text_filter("agent", "Exactly this agent."),
            text_filter("pattern", "The uuid of one error pattern."), DAYS,
        ],
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        """By day, tool, agent and error pattern. An unknown pattern has no failures."""
        since, until = read_days(request)
        asked = text_params(request, "tool", "agent", "pattern")
        workspace_id = workspace_of(request)
        known = find_pattern_id(workspace_id, asked["pattern"]) if asked["pattern"] else 0
        wanted = RepeatsAsked(since, asked["tool"], asked["agent"], known)
        days = repeats_of_days(workspace_id, wanted)
        total = repeats_of("", days.values())
        patterns = repeats_of_patterns(workspace_id, wanted, calls=total.seen.calls)
        names = {by: repeats_of_names(workspace_id, wanted, by) for by in ("tool", "agent")}
        return Response(
            {
                "since": since, "until": until, "total": repeat_json(total),
                "by_day": [repeat_json(item) for item in repeats_by_day(days, sorted(days))],
                "tools": [repeat_json(item) for item in names["tool"]],
                "agents": [repeat_json(item) for item in names["agent"]],
                "patterns": [
                    repeat_json(row.found) | {"uuid": str(row.pattern.uuid), "tool": row.pattern.tool}
                    for row in patterns
                ],
            }
        )  # fmt: skip


class RuleRepeatsInsight(APIView):
    """Errors before and after each rule."""

    actions: ClassVar = {"GET": "look"}

    @describes(
        "insights", "Errors before and after each rule", {200: RulesRepeatsSerializer}, parameters=[TOOL]
    )
    def get(self, request: Request) -> Response:
        """The 20 rules that were first served last. A comparison in time: a canary is the better evidence."""
        tool = text_params(request, "tool")["tool"]
        changes = list_changes(workspace_of(request), tool=tool)
        return Response({"rules": [_line(change) for change in changes]})


def _line(change: Change) -> dict[str, Any]:
    return {
        "rule": str(change.rule.uuid), "name": change.rule.name, "tools": list(change.tools),
        "served_at": change.served_at, "before": side_json(change.before), "after": side_json(change.after),
        "enough_data": change.is_known, "canary": change.canary or None,
    }  # fmt: skip
