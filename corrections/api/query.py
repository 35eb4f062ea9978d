"""``POST corrections/query``: the hot path of every agent."""

from typing import Any, ClassVar

from django.http import HttpRequest
from drf_spectacular.utils import extend_schema

from corrections.actions.asking import get_corrections
from corrections.api.errors import refusals
from corrections.api.serializers import ContextSerializer, DecisionSerializer
from memory.api.access import actor_of
from memory.api.errors import Unprocessable
from memory.api.lean import LeanView
from memory.api.structs import ErrorAnswer
from memory.api.throttles import QueryThrottle


class QueryCorrections(LeanView):
    """What should be done instead of this call?"""

    actions: ClassVar = {"POST": "query_corrections"}
    throttle_classes = (QueryThrottle,)
    max_body_bytes = 1_048_576

    @extend_schema(
        tags=["corrections"], summary="Ask for corrections", operation_id="corrections_query",
        request=ContextSerializer,
        responses={200: DecisionSerializer, **dict.fromkeys((400, 401, 403, 413, 422, 429), ErrorAnswer)},
    )  # fmt: skip
    def post(self, request: HttpRequest) -> dict[str, Any]:
        """Answers from memory; changes nothing but the receipt."""
        context = self.read_json(request)
        explain = context.pop("explain", False)
        if not isinstance(explain, bool):
            raise Unprocessable(
                "explain must be true or false.", [{"field": "explain", "detail": "must be a boolean"}]
            )
        with refusals():
            return get_corrections(context=context, by=actor_of(request), explain=explain)
