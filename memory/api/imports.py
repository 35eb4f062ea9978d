"""Imports over the API: hand in a file, read the plan, apply it."""

from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar, NoReturn
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.generics import ListAPIView
from rest_framework.parsers import BaseParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memory.actions import imports as actions
from memory.api.access import actor_of, workspace_of
from memory.api.bodies import check_length
from memory.api.errors import Conflict, TooLarge, Unprocessable
from memory.api.resources import find
from memory.api.structs import ErrorAnswer
from memory.domain.importers import FORMATS
from memory.models import ImportJob
from memory.queries.imports import list_imports
from memory.queries.workspaces import get_workspace

FORM_ROOM = 64 * 1024
"""What the form around a file may add to the request, in bytes."""


class ImportSerializer(serializers.ModelSerializer[ImportJob]):
    """An import: what is in the file (``plan``), how far it is (``cursor`` of ``total``), what came of it."""

    class Meta:
        model = ImportJob
        fields = (
            "uuid", "file_name", "size_bytes", "format", "status", "plan", "total", "cursor", "result",
            "problems", "created_by", "created_at", "started_at", "finished_at",
        )  # fmt: skip
        read_only_fields = fields


class UploadSerializer(serializers.Serializer[Any]):
    """A form with the file."""

    file = serializers.FileField()
    format = serializers.ChoiceField(choices=FORMATS, required=False)


@dataclass(frozen=True)
class RawFile:
    """A request body that is the file itself."""

    stream: BinaryIO


class RawFileParser(BaseParser):
    """Hands the body on unread, whatever it says it is."""

    media_type = "*/*"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """The stream itself."""
        return RawFile(stream)


class ImportList(ListAPIView[ImportJob]):
    """The imports of a workspace, newest first; hand in another."""

    actions: ClassVar = {"GET": "look", "POST": "import_runs"}
    parser_classes: ClassVar = [MultiPartParser, RawFileParser]
    serializer_class = ImportSerializer
    filter_backends: ClassVar = []

    def get_queryset(self) -> QuerySet[ImportJob]:
        """Those of the key's workspace."""
        if getattr(self, "swagger_fake_view", False):
            return ImportJob.objects.none()
        return list_imports(workspace_of(self.request))

    @extend_schema(tags=["imports"], summary="List imports", operation_id="imports_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Newest first, cursor-paged."""
        return super().get(request, *args, **kwargs)

    @extend_schema(
        tags=["imports"],
        summary="Hand in a file of runs and get the plan",
        description="Send the file as a form field `file`, or as the body with `?file_name=`. Nothing is "
        "recorded until the plan is applied. gzip is fine.",
        parameters=[
            OpenApiParameter("file_name", OpenApiTypes.STR, description="For a file sent as the body."),
            OpenApiParameter(
                "format", OpenApiTypes.STR, description="Told from the file otherwise.", enum=FORMATS
            ),
        ],
        request={"multipart/form-data": UploadSerializer, "application/octet-stream": OpenApiTypes.BINARY},
        responses={201: ImportSerializer, 413: ErrorAnswer, 422: ErrorAnswer},
    )
    def post(self, request: Request) -> Response:
        """201 with the plan."""
        check_length(request, settings.MAX_UPLOAD_BYTES + FORM_ROOM)
        file, name, chosen = _handed_in(request)
        workspace = get_workspace(workspace_of(request))
        try:
            job = actions.plan_import(
                workspace=workspace, file=file, file_name=name, format_name=chosen, by=actor_of(request)
            )
        except actions.UploadTooLarge as refusal:
            raise TooLarge(str(refusal)) from refusal
        except actions.ImportRefused as refusal:
            raise Unprocessable(str(refusal)) from refusal
        return Response(ImportSerializer(job).data, status=status.HTTP_201_CREATED)


class ImportDetail(APIView):
    """One import."""

    actions: ClassVar = {"GET": "look"}

    @extend_schema(tags=["imports"], summary="How far an import is", responses={200: ImportSerializer})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Plan, progress and problems."""
        return Response(ImportSerializer(_find(request, uuid)).data)


class ApplyImport(APIView):
    """Let the worker import it."""

    actions: ClassVar = {"POST": "import_runs"}

    @extend_schema(
        tags=["imports"], summary="Apply a plan", request=None,
        responses={202: ImportSerializer, 409: ErrorAnswer},
    )  # fmt: skip
    def post(self, request: Request, uuid: UUID) -> Response:
        """202: the worker goes on with it, from where it was left."""
        try:
            job = actions.apply_import(job=_find(request, uuid), by=actor_of(request))
        except actions.ImportRefused as refusal:
            raise Conflict(str(refusal)) from refusal
        return Response(ImportSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class CancelImport(APIView):
    """Stop it."""

    actions: ClassVar = {"POST": "import_runs"}

    @extend_schema(
        tags=["imports"], summary="Cancel an import", request=None,
        responses={200: ImportSerializer, 409: ErrorAnswer},
    )  # fmt: skip
    def post(self, request: Request, uuid: UUID) -> Response:
        """What is recorded stays; applying it again goes on from there."""
        try:
            job = actions.cancel_import(job=_find(request, uuid), by=actor_of(request))
        except actions.ImportRefused as refusal:
            raise Conflict(str(refusal)) from refusal
        return Response(ImportSerializer(job).data)


def _handed_in(request: Request) -> tuple[BinaryIO, str, str | None]:
    data: Any = request.data
    chosen = request.query_params.get("format")
    if isinstance(data, RawFile):
        return data.stream, request.query_params.get("file_name") or "upload", chosen
    file: Any = data.get("file") if hasattr(data, "get") else None
    if not hasattr(file, "read"):
        _refuse_without_file()
    return file, file.name or "upload", data.get("format") or chosen


def _refuse_without_file() -> NoReturn:
    detail = "Send the file as the form field `file`, or as the body of the request."
    raise Unprocessable(detail, [{"field": "file", "detail": "There is no file."}])


def _find(request: Request, uuid: UUID) -> ImportJob:
    return find(list_imports(workspace_of(request)), uuid)
