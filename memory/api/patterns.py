"""Error patterns: lists, neighbours, occurrences, and their status."""

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memory.actions.patterns import set_pattern_status
from memory.api.access import actor_of, workspace_of
from memory.api.errors import Conflict
from memory.api.filters import FailureFilter
from memory.api.idempotency import idempotent
from memory.api.resources import (
    RowList,
    describes,
    find,
    next_address,
    read,
    text_filter,
    text_params,
    writes,
)
from memory.api.shapes import (
    PATTERN_STATUSES,
    FailureSerializer,
    PatternDetailSerializer,
    PatternPageSerializer,
    PatternSerializer,
    PatternStatusSerializer,
    SimilarPatternSerializer,
)
from memory.domain.lifecycle import TransitionError
from memory.models import ErrorPattern, Failure
from memory.queries.patterns import PatternFilters, list_patterns, list_similar
from memory.queries.resources import failure_rows, pattern_rows
from memory.queries.workspaces import get_workspace

ORDERS = ("count", "recent")


LIST_PARAMETERS = [
    text_filter("status", "Only patterns in this status.", PATTERN_STATUSES),
    text_filter("tool", "Only this tool."),
    text_filter("scope", "A part of the scope (for example the environment's name)."),
    text_filter("q", "Looks in title, message and identifier."),
    text_filter("order", "Most frequent first (the default), or most recent first.", ORDERS),
    text_filter("cursor", "Where the page starts: follow `next`."),
]


class PatternList(APIView):
    """The mistakes, most frequent or most recent first."""

    actions: ClassVar = {"GET": "look"}

    @describes(
        "patterns", "List error patterns", {200: PatternPageSerializer}, parameters=LIST_PARAMETERS,
        operation_id="patterns_list",
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        """Cursor-paged; pages only go on."""
        asked = text_params(request, "status", "tool", "scope", "q", "order", "cursor")
        filters = PatternFilters(
            status=asked["status"], tool=asked["tool"], scope=asked["scope"], text=asked["q"],
            order=asked["order"] or "count",
        )  # fmt: skip
        workspace = get_workspace(workspace_of(request))
        page = list_patterns(workspace, filters, asked["cursor"])
        return Response(
            {
                "next": next_address(request, page.next_cursor),
                "previous": None,
                "results": PatternSerializer(page.rows, many=True).data,
            }
        )


class PatternDetail(APIView):
    """One mistake."""

    actions: ClassVar = {"GET": "look"}

    @describes("patterns", "Get an error pattern", {200: PatternDetailSerializer})
    def get(self, request: Request, uuid: UUID) -> Response:
        """With the patterns that resemble it, nearest first."""
        return Response(_detail(find(pattern_rows(workspace_of(request)), uuid)))


class PatternFailures(RowList[Failure]):
    """Each time the mistake was made."""

    actions: ClassVar = {"GET": "look"}
    queryset = Failure.objects.none()
    serializer_class = FailureSerializer
    filterset_class = FailureFilter

    def rows(self) -> QuerySet[Failure]:
        """The failures of the pattern in the URL."""
        return failure_rows(find(pattern_rows(workspace_of(self.request)), self.kwargs["uuid"]))

    @describes("patterns", "List the failures of an error pattern")
    def get(self, request: Request, uuid: UUID) -> Response:
        """Newest first, with the context each happened in."""
        return self.listing()


class PatternStatus(APIView):
    """Whether a mistake still waits for a rule."""

    actions: ClassVar = {"POST": "triage_pattern"}

    @writes(
        "patterns", "Set an error pattern aside, or take it up again", {200: PatternDetailSerializer},
        request=PatternStatusSerializer,
    )  # fmt: skip
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """409 where the status does not allow it; the same status again changes nothing."""
        pattern, form = (
            find(pattern_rows(workspace_of(request)), uuid),
            read(PatternStatusSerializer, request),
        )
        try:
            return Response(_detail(set_pattern_status(pattern=pattern, by=actor_of(request), **form)))
        except TransitionError as error:
            raise Conflict(str(error)) from error


def _detail(pattern: ErrorPattern) -> dict[str, Any]:
    similar = SimilarPatternSerializer(list_similar(pattern), many=True)
    return {**PatternSerializer(pattern).data, "similar": similar.data}
