"""``GET search``: rules and error patterns by meaning."""

from typing import Any, ClassVar

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from corrections.live.finding import KINDS, FoundText, find_texts
from memory.api.access import workspace_of
from memory.api.errors import Unprocessable
from memory.api.resources import describes, text_filter, text_params

MAX_QUESTION = 400


class FoundSerializer(serializers.Serializer[Any]):
    """One rule or pattern that is near the question."""

    kind = serializers.ChoiceField(choices=KINDS)
    uuid = serializers.UUIDField()
    title = serializers.CharField()
    tool = serializers.CharField(allow_blank=True)
    status = serializers.CharField()
    score = serializers.FloatField(
        allow_null=True, help_text="0 to 1; null: found by its name, not indexed yet."
    )
    by = serializers.ChoiceField(
        choices=["letters", "meaning"], help_text="`letters`: it holds what was asked."
    )


class FoundListSerializer(serializers.Serializer[Any]):
    """What is near, best first; empty when nothing is."""

    results = FoundSerializer(many=True)
    waiting = serializers.IntegerField(help_text="Texts without a vector yet: found by their letters only.")
    by_meaning = serializers.BooleanField(help_text="False when the embedder did not answer.")


class SearchTexts(APIView):
    """How do we handle ...?"""

    actions: ClassVar = {"GET": "look"}

    @describes(
        "search",
        "Search rules and error patterns by meaning",
        {200: FoundListSerializer},
        parameters=[
            OpenApiParameter("q", OpenApiTypes.STR, required=True, description="A question, or words."),
            text_filter("kind", "Only these.", KINDS),
        ],
    )
    def get(self, request: Request) -> Response:
        """At most ten of each kind."""
        asked = text_params(request, "q", "kind")
        question = asked["q"].strip()
        if not question or len(question) > MAX_QUESTION:
            fault = {"field": "q", "detail": f"Ask something, in at most {MAX_QUESTION} characters."}
            raise Unprocessable("The question cannot be read.", [fault])
        if asked["kind"] not in ("", *KINDS):
            fault = {"field": "kind", "detail": f"must be one of {', '.join(KINDS)}"}
            raise Unprocessable("There is no such kind.", [fault])
        found = find_texts(workspace_of(request), question, kind=asked["kind"])
        results = [_shape(item) for item in found.items]
        return Response({"results": results, "waiting": found.waiting, "by_meaning": found.by_meaning})


def _shape(item: FoundText) -> dict[str, Any]:
    row = item.row
    if item.kind == "rule":
        title, tool = row.name, row.latest_version.tool if row.latest_version else ""
    else:
        title, tool = row.title, row.tool
    return {
        "kind": item.kind, "uuid": str(row.uuid), "title": title, "tool": tool, "status": row.status,
        "score": item.score, "by": item.by,
    }  # fmt: skip
