"""Sequences of tools that go with success or failure, and making one a template path."""

from typing import Any, ClassVar
from uuid import UUID

import msgspec
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memory.actions.sequence_templates import make_sequence_template, template_key
from memory.api.access import actor_of, workspace_of
from memory.api.idempotency import idempotent
from memory.api.paths import refusals, whole_path
from memory.api.resources import describes, find, next_address, read, text_filter, text_params, writes
from memory.queries.paging import read_number
from memory.queries.path_views import PathDetail, as_json
from memory.queries.sequences import (
    VERDICTS,
    SequenceFilters,
    ShownSequence,
    find_kind,
    list_sequences,
    sequence_rows,
    show_sequences,
)

LIST_PARAMETERS = [
    text_filter("show", "Which ones; `winning` if left out.", VERDICTS),
    text_filter("kind", "Only tasks of this kind: `domain:NAME` or `tag:NAME`; all tasks if left out."),
    OpenApiParameter("least", OpenApiTypes.INT, description="Only sequences in at least so many tasks."),
    text_filter("cursor", "Where the page starts: follow `next`."),
]


class SequenceExample(msgspec.Struct, frozen=True):
    """A task that held a sequence, and whether it succeeded."""

    task: UUID
    external_id: str
    succeeded: bool


class SequenceView(msgspec.Struct, frozen=True):
    """A run of tools and what goes with it.

    ``support`` is its share of the successful tasks of the kind, ``success_rate`` the share of its tasks that
    succeeded, ``lift`` that share over what is expected of such tasks, with a 95 % interval; null where there
    is not enough data. ``most_tasks`` is the upper bound of ``tasks``, more where rare ones were dropped.
    """

    uuid: UUID
    tools: list[str]
    verdict: str
    tasks: int
    most_tasks: int
    succeeded: int
    support: float
    success_rate: float
    lift: float | None
    lift_low: float | None
    lift_high: float | None
    examples: list[SequenceExample]
    template: UUID | None


class SequencePage(msgspec.Struct, frozen=True):
    """One page, and the tasks of the kind that ended. The surest first, with `show=all` the most frequent."""

    kind: str
    succeeded: int
    failed: int
    next: str | None
    previous: str | None
    results: list[SequenceView]


class TemplateSerializer(serializers.Serializer[Any]):
    """What the template is for and what it is found by."""

    goal = serializers.CharField(max_length=2_000)
    tags = serializers.ListField(child=serializers.CharField(max_length=100), max_length=50, default=list)


class SequenceList(APIView):
    """Which runs of tools go with success, and which with failure."""

    actions: ClassVar = {"GET": "look"}

    @describes(
        "insights", "List tool sequences", {200: SequencePage}, parameters=LIST_PARAMETERS,
        operation_id="insights_sequences_list",
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        """Only closed ones: a run that always comes inside the same longer one is left out."""
        asked = text_params(request, "show", "kind", "least", "cursor")
        show = asked["show"] if asked["show"] in VERDICTS else "winning"
        least = min(read_number(asked["least"]) or 0, 1 << 30)
        workspace = workspace_of(request)
        page = list_sequences(workspace, SequenceFilters(show, asked["kind"], least), asked["cursor"])
        shown = show_sequences(workspace, page.rows, {row.pk: template_key(row) for row in page.rows})
        kind = find_kind(workspace, asked["kind"])
        answer = SequencePage(
            asked["kind"], kind.won if kind else 0, kind.lost if kind else 0,
            next_address(request, page.next_cursor), None, [_view(one) for one in shown],
        )  # fmt: skip
        return Response(as_json(answer))


class SequenceTemplate(APIView):
    """A sequence as a path."""

    actions: ClassVar = {"POST": "write_path"}

    @writes("insights", "Make a sequence a template path", {201: PathDetail}, request=TemplateSerializer)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """Its tools become the nodes. 409 when the sequence is a template already."""
        row, form = find(sequence_rows(workspace_of(request)), uuid), read(TemplateSerializer, request)
        with refusals():
            made = make_sequence_template(sequence=row, by=actor_of(request), **form)
        return Response(whole_path(made), status=201)


def _view(one: ShownSequence) -> SequenceView:
    row = one.row
    return SequenceView(
        row.uuid, list(row.tools), row.verdict, row.tasks, one.most_tasks, row.won, one.support,
        one.share_won, row.lift, row.lift_low, row.lift_high,
        [SequenceExample(task.uuid, task.name, task.won) for task in one.examples],
        one.template.uuid if one.template else None,
    )  # fmt: skip
