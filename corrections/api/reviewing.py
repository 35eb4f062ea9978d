"""Saying that a rule is still right."""

from typing import ClassVar
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from corrections.actions.staleness import review_rule
from corrections.api.rules import find_rule
from corrections.api.serializers import RuleDetailSerializer
from memory.api.access import actor_of
from memory.api.idempotency import idempotent
from memory.api.resources import read, writes
from memory.api.shapes import ReasonSerializer


class ReviewRule(APIView):
    """A rule that asks to be looked at."""

    actions: ClassVar = {"POST": "review_rule"}

    @writes(
        "rules", "Say that a rule is still right", {200: RuleDetailSerializer}, request=ReasonSerializer,
        operation_id="rules_review",
    )  # fmt: skip
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """Clears its reminders until there is a new reason."""
        rule, form = find_rule(request, uuid), read(ReasonSerializer, request)
        rule = review_rule(rule=rule, by=actor_of(request), note=form["reason"])
        return Response(RuleDetailSerializer(rule).data)
