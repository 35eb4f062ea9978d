"""``POST paths/locate``: the question an agent asks before it starts: a hot path, so without ceremony."""

from typing import Any, ClassVar

import msgspec
from django.http import HttpRequest
from drf_spectacular.utils import extend_schema
from rest_framework import serializers

from memory.actions.locating import locate_paths
from memory.api.access import actor_of, workspace_of
from memory.api.lean import LeanView
from memory.api.localizations import refusals
from memory.api.structs import ErrorAnswer
from memory.api.throttles import QueryThrottle
from memory.domain.locating.answers import LocatedAnswer
from memory.domain.locating.question import MAX_PROMPT_TOKENS, MAX_TOP_K
from memory.domain.paths.document import PATH_LEVELS


class PathFiltersSerializer(serializers.Serializer[Any]):
    """Which paths may be answered; leave out what does not matter."""

    tool = serializers.CharField(required=False, max_length=200, help_text="Paths that call it.")
    tag = serializers.CharField(required=False, max_length=200, help_text="Paths that carry it.")
    agent = serializers.CharField(required=False, max_length=200, help_text="Walked by this agent.")
    level = serializers.ChoiceField(
        required=False, choices=list(PATH_LEVELS), help_text="Whole tasks unless told otherwise."
    )
    since = serializers.DateTimeField(required=False, help_text="Made at or after.")
    until = serializers.DateTimeField(required=False, help_text="Made before.")


class QuestionSerializer(serializers.Serializer[Any]):
    """What to look for: a goal, tags, or the nodes walked so far; at least one of them."""

    goal = serializers.CharField(required=False, allow_blank=True, max_length=20_000)
    tags = serializers.ListField(child=serializers.CharField(max_length=100), required=False, max_length=50)
    nodes = serializers.ListField(
        child=serializers.CharField(max_length=200), required=False, max_length=100,
        help_text="Names of nodes or tools, in order.",
    )  # fmt: skip
    filters = PathFiltersSerializer(required=False)
    top_k = serializers.IntegerField(required=False, min_value=1, max_value=MAX_TOP_K, default=3)
    min_score = serializers.FloatField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=1,
        help_text="The workspace's own unless given.",
    )
    task = serializers.CharField(
        required=False, allow_blank=True, max_length=200,
        help_text="External id of the task it is asked for: ties the answer to the outcome.",
    )  # fmt: skip
    env = serializers.DictField(required=False, help_text="Kept beside the question; up to 16 KiB.")
    prompt_tokens = serializers.IntegerField(
        required=False, allow_null=True, min_value=50, max_value=MAX_PROMPT_TOKENS,
        help_text="Also return the best path as a text for a prompt, of at most about so many tokens.",
    )  # fmt: skip


class LocatePaths(LeanView):
    """Which whole path fits this goal?"""

    actions: ClassVar = {"POST": "locate_paths"}
    throttle_classes = (QueryThrottle,)
    max_body_bytes = 262_144

    @extend_schema(
        tags=["paths"], summary="Locate paths for a goal", operation_id="paths_locate",
        request=QuestionSerializer,
        responses={200: LocatedAnswer, **dict.fromkeys((400, 401, 403, 413, 422, 429, 503), ErrorAnswer)},
    )  # fmt: skip
    def post(self, request: HttpRequest) -> dict[str, Any]:
        """Whole paths with every part of the score, failed ones apart. The question is kept."""
        with refusals():
            question = self.read_json(request)
            answer = locate_paths(workspace_id=workspace_of(request), query=question, by=actor_of(request))
        return dict(msgspec.to_builtins(answer))
