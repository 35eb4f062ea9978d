"""Localizations: what was asked and answered, which path was taken, whether the answer was right."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar
from uuid import UUID

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memory.actions import localizations as actions
from memory.api.access import actor_of, workspace_of
from memory.api.errors import Unprocessable, field_rows
from memory.api.idempotency import idempotent
from memory.api.localization_shapes import (
    KINDS,
    RESULTS,
    FeedbackGivenSerializer,
    FeedbackSerializer,
    LocalizationSerializer,
    PathUseSerializer,
    ReviewSerializer,
)
from memory.api.resources import RowList, describes, find, read, writes
from memory.domain.locating.question import InvalidQuestionError
from memory.domain.locating.review import VERDICTS
from memory.models import Localization
from memory.queries.localizations import localization_rows


class LocalizationFilter(filters.FilterSet):
    """Localizations by answer, task, outcome and review."""

    kind = filters.ChoiceFilter(choices=[(word, word) for word in KINDS])
    outcome = filters.ChoiceFilter(choices=[(word, word) for word in RESULTS])
    task = filters.CharFilter(field_name="task_name", help_text="Exactly this external id.")
    sampled = filters.BooleanFilter(help_text="Only those of the weekly sample, or only the others.")
    verdict = filters.ChoiceFilter(choices=[(word, word) for word in VERDICTS])

    class Meta:
        model = Localization
        fields: ClassVar = ["kind", "outcome", "task", "sampled", "verdict"]


class LocalizationList(RowList[Localization]):
    """What agents asked the path memory."""

    actions: ClassVar = {"GET": "look"}
    queryset = Localization.objects.none()
    serializer_class = LocalizationSerializer
    filterset_class = LocalizationFilter

    def rows(self) -> QuerySet[Localization]:
        """The workspace's localizations."""
        return localization_rows(workspace_of(self.request))

    @describes("localizations", "List localizations")
    def get(self, request: Request) -> Response:
        """Newest first, cursor-paged."""
        return self.listing()


class LocalizationDetail(APIView):
    """One question and its answer."""

    actions: ClassVar = {"GET": "look"}

    @describes("localizations", "Get a localization", {200: LocalizationSerializer})
    def get(self, request: Request, uuid: UUID) -> Response:
        """As it was answered, and what came of it."""
        return Response(LocalizationSerializer(find(localization_rows(workspace_of(request)), uuid)).data)


class LocalizationFeedback(APIView):
    """Which path an agent followed."""

    actions: ClassVar = {"POST": "report_reuse"}

    @writes(
        "localizations",
        "Say which path was taken",
        {200: FeedbackGivenSerializer},
        request=FeedbackSerializer,
    )
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """The path learns from it when the task's outcome is known. Saying the same twice changes nothing."""
        localization = find(localization_rows(workspace_of(request)), uuid)
        form = read(FeedbackSerializer, request)
        with refusals():
            use = actions.report_reuse(localization=localization, by=actor_of(request), **form)
        answer = {
            "localization": LocalizationSerializer(localization).data,
            "use": PathUseSerializer(use).data if use else None,
        }
        return Response(answer)


class LocalizationReview(APIView):
    """Whether an answer of the weekly sample was right."""

    actions: ClassVar = {"POST": "review_sample"}

    @writes(
        "localizations",
        "Review an answer of the sample",
        {200: LocalizationSerializer},
        request=ReviewSerializer,
    )
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """A later word replaces an earlier one; the audit trail has both."""
        localization = find(localization_rows(workspace_of(request)), uuid)
        form = read(ReviewSerializer, request)
        with refusals():
            reviewed = actions.review_localization(localization=localization, by=actor_of(request), **form)
        return Response(LocalizationSerializer(reviewed).data)


@contextmanager
def refusals() -> Iterator[None]:
    """Field errors of the path memory as 422."""
    try:
        yield
    except InvalidQuestionError as error:
        said = "The request has fields that are not acceptable."
        raise Unprocessable(said, field_rows(error.errors)) from error
