"""Experience over the API: record tasks, list them, look at one, say how it ended."""

from typing import Any, ClassVar
from uuid import UUID

import msgspec
from django.conf import settings
from django.db import OperationalError
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, PolymorphicProxySerializer, extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memory.actions.judge import judge_task
from memory.actions.record import ItemResult, record_experience
from memory.api.access import actor_of, workspace_of
from memory.api.bodies import read_body
from memory.api.errors import Conflict, TooLarge, Unavailable, Unprocessable, field_rows
from memory.api.filters import MomentFilter
from memory.api.structs import BatchResult, ErrorAnswer, Experiences, PayloadBody, TaskPage
from memory.domain import intake
from memory.domain.experience import ExperienceDoc, OutcomeDoc
from memory.domain.plain_json import clean_json
from memory.models import Payload, Task
from memory.queries import experiences as queries
from memory.queries.json_lists import holding
from memory.queries.tasks import saying, with_tool


class _Envelope(msgspec.Struct):
    experiences: msgspec.Raw


STATUS = {"created": 201, "updated": 200, "unchanged": 200}
REFUSED = {code: OpenApiResponse(ErrorAnswer) for code in (401, 403, 409, 413, 422, 429, 503)}
MISSING = {404: OpenApiResponse(ErrorAnswer)}
BODY = PolymorphicProxySerializer("ExperienceBody", [ExperienceDoc, Experiences], None)
PAGING = [
    OpenApiParameter("cursor", OpenApiTypes.STR, description="Where a page begins: take it from `next`."),
    OpenApiParameter("page_size", OpenApiTypes.INT, description="1 to 200; 50 when left out."),
]
_outer = msgspec.json.Decoder(_Envelope)
_outcome = msgspec.json.Decoder(OutcomeDoc)


class TaskFilter(filters.FilterSet):
    """Filters of the list of tasks."""

    outcome = filters.ChoiceFilter(choices=[(word, word) for word in ("unknown", "success", "failure")])
    agent = filters.CharFilter()
    external_id = filters.CharFilter()
    root_task = filters.CharFilter()
    tag = filters.CharFilter(method="by_tag", label="Tasks that carry the tag.")
    tool = filters.CharFilter(method="by_tool", label="Tasks that called the tool.")
    since = MomentFilter(field_name="received_at", lookup_expr="gte")
    until = MomentFilter(field_name="received_at", lookup_expr="lt")
    q = filters.CharFilter(method="by_text", label="Looks in goal and external id.")

    class Meta:
        model = Task
        fields: ClassVar[list[str]] = []

    def by_tag(self, tasks: QuerySet[Task], name: str, tag: str) -> QuerySet[Task]:
        """Tasks that carry the tag."""
        return holding(tasks, "tags", tag)

    def by_tool(self, tasks: QuerySet[Task], name: str, tool: str) -> QuerySet[Task]:
        """Tasks that called the tool."""
        return with_tool(tasks, workspace_of(self.request), tool)

    def by_text(self, tasks: QuerySet[Task], name: str, text: str) -> QuerySet[Task]:
        """Tasks whose goal or external id contains the text."""
        return saying(tasks, text)


class ExperienceList(GenericAPIView[Task]):
    """Record experience; list what was recorded."""

    actions: ClassVar = {"GET": "look", "POST": "record_experience"}
    filterset_class = TaskFilter

    def get_queryset(self) -> QuerySet[Task]:
        """The tasks of the key's workspace."""
        if getattr(self, "swagger_fake_view", False):
            return Task.objects.none()
        return queries.list_tasks(workspace_of(self.request))

    @extend_schema(
        tags=["experience"], summary="List recorded tasks, newest first", operation_id="experiences_list",
        parameters=PAGING,
        responses={200: TaskPage, **{code: REFUSED[code] for code in (401, 403, 422, 429)}}, filters=True,
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        """A page of tasks. Follow ``next``; ``page_size`` is at most 200."""
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        return self.get_paginated_response(
            msgspec.to_builtins([queries.summarize(task) for task in page or []])
        )

    @extend_schema(
        tags=["experience"], summary="Record one task or a batch", operation_id="record_experience",
        request={"application/json": BODY}, filters=False,
        responses={201: ItemResult, 200: ItemResult, 207: BatchResult, **REFUSED},
    )  # fmt: skip
    def post(self, request: Request) -> HttpResponse:
        """Partial documents are welcome: send a task again with more calls, and ``final`` with the last.

        ``external_id`` is the idempotency key: sending the same again changes nothing (200 ``unchanged``);
        what contradicts the record is a 409 and writes nothing. One document answers 201 or 200; a list, or
        ``{"experiences": [...]}``, answers 207 with a result for each document, in order.
        """
        body = clean_json(read_body(request))
        try:
            documents = intake.read_documents(body, max_bytes=settings.MAX_BODY_BYTES)
            results = record_experience(
                workspace_id=workspace_of(request), documents=documents, by=actor_of(request)
            )
        except intake.TooLargeError as error:
            raise TooLarge(str(error)) from error
        except intake.InvalidBodyError as error:
            raise Unprocessable(str(error)) from error
        except OperationalError as error:
            raise Unavailable("The store is busy; send the same again.") from error
        return answer_batch(results) if len(results) != 1 or is_batch(body) else answer_one(results[0])


def is_batch(body: bytes) -> bool:
    """Whether the (readable) body is a list of documents, or an object that holds one."""
    if body.lstrip()[:1] == b"[":
        return True
    try:
        _outer.decode(body)
    except msgspec.ValidationError:
        return False
    return True


def answer_one(result: ItemResult) -> HttpResponse:
    """A single document's result as a status of its own."""
    errors = field_rows(result.errors)
    if result.status == "conflict":
        raise Conflict("The document contradicts what is recorded under its external id.", errors)
    if result.status == "invalid":
        raise Unprocessable("The document has fields that are not acceptable.", errors)
    return json_answer(result, STATUS[result.status])


def answer_batch(results: list[ItemResult]) -> HttpResponse:
    """One result for each document, and how many of each kind."""
    counts: dict[str, int] = {}
    for result in results:
        counts[result.status] = counts.get(result.status, 0) + 1
    return json_answer(BatchResult(results=results, counts=counts), 207)


def json_answer(data: Any, status: int) -> HttpResponse:
    """A struct as JSON."""
    return HttpResponse(msgspec.json.encode(data), status=status, content_type="application/json")


class ExperienceDetail(APIView):
    """One recorded task."""

    actions: ClassVar = {"GET": "look"}

    @extend_schema(
        tags=["experience"], summary="A recorded task with its calls, outcomes and failures",
        operation_id="experiences_retrieve", responses={200: queries.TaskDetail, **MISSING},
        parameters=[
            OpenApiParameter("after_seq", OpenApiTypes.INT, description="Calls after it; 500 at a time.")
        ],
    )  # fmt: skip
    def get(self, request: Request, uuid: UUID) -> HttpResponse:
        """Everything that is known about it."""
        after = request.query_params.get("after_seq", "-1")
        if not after.removeprefix("-").isdecimal() or len(after) > 9:
            raise Unprocessable(
                "after_seq must be a whole number.", [{"field": "after_seq", "detail": after}]
            )
        try:
            detail = queries.get_task_detail(workspace_of(request), uuid, after_seq=int(after))
        except Task.DoesNotExist as error:
            raise Http404 from error
        return json_answer(detail, 200)


class ExperienceOutcomes(APIView):
    """What is said about a task after it was recorded."""

    actions: ClassVar = {"POST": "judge_task"}

    @extend_schema(
        tags=["experience"], summary="Say how a task ended", operation_id="judge_task",
        request={"application/json": OutcomeDoc},
        responses={201: queries.TaskSummary, 200: queries.TaskSummary, **REFUSED, **MISSING},
    )  # fmt: skip
    def post(self, request: Request, uuid: UUID) -> HttpResponse:
        """Appends an outcome (201); a source that repeats its last word changes nothing (200).

        The strongest source counts: human, evaluator, environment, agent; the newest within one.
        """
        try:
            outcome = _outcome.decode(clean_json(read_body(request)))
            task = queries.find_task(workspace_of(request), uuid)
        except msgspec.DecodeError as error:
            rows = field_rows([intake.field_error(error)])
            raise Unprocessable("The outcome has fields that are not acceptable.", rows) from error
        except Task.DoesNotExist as error:
            raise Http404 from error
        has_changed = judge_task(task=task, outcome=outcome, by=actor_of(request))
        return json_answer(queries.summarize(task), 201 if has_changed else 200)


class PayloadDetail(APIView):
    """A large value that a call refers to by digest."""

    actions: ClassVar = {"GET": "look"}

    @extend_schema(
        tags=["experience"], summary="A large value by its digest", operation_id="payloads_retrieve",
        responses={200: PayloadBody, **MISSING},
    )  # fmt: skip
    def get(self, request: Request, digest: str) -> HttpResponse:
        """The redacted value as JSON text; ``truncated`` when it was over the hard cap."""
        try:
            payload = queries.get_payload(workspace_of(request), digest)
        except Payload.DoesNotExist as error:
            raise Http404 from error
        return json_answer(PayloadBody(payload.digest, payload.size, payload.truncated, payload.body), 200)
