"""Insights for planners and dashboards: speed, the fastest way in a situation, the cost of retries."""

from datetime import UTC, date
from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memory.api.access import workspace_of
from memory.api.errors import Unprocessable
from memory.api.insight_shapes import FastestSerializer, RetriesSerializer, SpeedSerializer
from memory.api.resources import describes, text_filter, text_params
from memory.domain.insights.fastest import Situation, find_fastest
from memory.domain.insights.latency import by_day, by_name
from memory.domain.insights.retrying import cost_of, retries_by_day
from memory.domain.insights.spans import MAX_DAYS, SPANS, first_day, read_span
from memory.domain.insights.speed import ALL
from memory.domain.insights.speed_tables import answer_json, retry_json, speed_json
from memory.queries.insights_retries import retries_of_days, retries_of_patterns, retries_of_tools
from memory.queries.insights_speed import seen_ways, shape_speeds, tool_speeds

DAYS = OpenApiParameter(
    "days", OpenApiTypes.INT, default=SPANS[1], description=f"Days that end today (UTC), 1 to {MAX_DAYS}."
)
TOOL = text_filter("tool", "Exactly this tool.")


def read_days(request: Request) -> tuple[date, date]:
    """The first and the last day asked for. 422 for anything but 1 to ``MAX_DAYS`` days."""
    text = text_params(request, "days")["days"]
    span = read_span(text) if text else SPANS[1]
    if span is None:
        fault = {"field": "days", "detail": f"must be a whole number from 1 to {MAX_DAYS}"}
        raise Unprocessable("The days cannot be read.", [fault])
    today = timezone.now().astimezone(UTC).date()
    return first_day(today, span), today


class SpeedInsight(APIView):
    """How long tools take."""

    actions: ClassVar = {"GET": "look"}

    @describes(
        "insights", "Latency by tool and parameter shape", {200: SpeedSerializer}, parameters=[TOOL, DAYS]
    )
    def get(self, request: Request) -> Response:
        """The tools with the most calls; with `tool` that one, by the shape of its parameters and by day."""
        (since, until), tool = read_days(request), text_params(request, "tool")["tool"]
        body: dict[str, Any] = {"since": since, "until": until, "shapes": [], "by_day": []}
        if not tool:
            found = by_name(tool_speeds(workspace_of(request), since=since))
            return Response(body | {"tools": [speed_json(item) for item in found]})
        cells = shape_speeds(workspace_of(request), tool=tool, since=since)
        whole = {(day, tool): cell for (day, shape), cell in cells.items() if shape == ALL}
        parts = {key: cell for key, cell in cells.items() if key[1] != ALL}
        days = [day for day in by_day(whole, sorted(day for day, _tool in whole)) if day.n]
        lines = {"tools": by_name(whole), "shapes": by_name(parts), "by_day": days}
        return Response(body | {name: [speed_json(item) for item in found] for name, found in lines.items()})


class FastestInsight(APIView):
    """Which way is fastest here?"""

    actions: ClassVar = {"GET": "look"}

    @describes(
        "insights",
        "Fastest ways to a result in a situation",
        {200: FastestSerializer},
        parameters=[
            OpenApiParameter("tool", OpenApiTypes.STR, required=True, description="Whose result is wanted."),
            text_filter("after", "The tool that was called last; `(start)` at the beginning of a task."),
            text_filter("domain", "The environment's domain (`env.domain`)."),
            text_filter("tags", "Tags of the task, separated by commas."),
            DAYS,
        ],
    )
    def get(self, request: Request) -> Response:
        """At most ten ways, by the expected time to a success, from the whole months that `days` touch."""
        since, _until = read_days(request)
        asked = text_params(request, "tool", "after", "domain", "tags")
        if not asked["tool"]:
            fault = {"field": "tool", "detail": "Name the tool whose result is wanted."}
            raise Unprocessable("The situation cannot be read.", [fault])
        situation = Situation.read(asked["after"], asked["domain"], asked["tags"])
        seen = seen_ways(workspace_of(request), tool=asked["tool"], since=since)
        return Response(answer_json(find_fastest(seen, asked["tool"], situation)))


class RetriesInsight(APIView):
    """What retries cost."""

    actions: ClassVar = {"GET": "look"}

    @describes("insights", "Cost of retries", {200: RetriesSerializer}, parameters=[TOOL, DAYS])
    def get(self, request: Request) -> Response:
        """By day, tool and error pattern: extra calls, extra time, their shares, how they ended."""
        (since, until), tool = read_days(request), text_params(request, "tool")["tool"]
        workspace_id = workspace_of(request)
        days = retries_of_days(workspace_id, since=since, tool=tool)
        total = cost_of(tool, days.values())
        patterns = retries_of_patterns(workspace_id, since=since, tool=tool, whole=total.cost)
        return Response(
            {
                "since": since,
                "until": until,
                "total": retry_json(total),
                "by_day": [retry_json(item) for item in retries_by_day(days, sorted(days))],
                "tools": [
                    retry_json(item) for item in retries_of_tools(workspace_id, since=since, tool=tool)
                ],
                "patterns": [
                    retry_json(item.retry) | {"uuid": str(item.pattern.uuid), "tool": item.pattern.tool}
                    for item in patterns
                ],
            }
        )
