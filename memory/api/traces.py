"""``POST traces``: the endpoint of OpenTelemetry's OTLP/HTTP exporters."""

from typing import Any, ClassVar

from django.conf import settings
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ParseError, UnsupportedMediaType

from memory.actions.traces import Received, receive_spans
from memory.api.access import actor_of, workspace_of
from memory.api.bodies import read_json, read_unpacked
from memory.api.errors import Unavailable
from memory.api.lean import LeanView, json_response
from memory.api.structs import ErrorAnswer, TracesAnswer
from memory.domain.importers.otlp_protobuf import (
    UndecodableError,
    decode_request,
    encode_response,
    encode_status,
)  # fmt: skip
from memory.domain.importers.records import BadRecordError
from memory.domain.plain_json import clean_json, is_too_deep

PROTOBUF, JSON = "application/x-protobuf", "application/json"
MAX_LEVELS = 100  # as protobuf's own parsers


class Traces(LeanView):
    """Spans of agents and tools become experience."""

    actions: ClassVar = {"POST": "record_experience"}

    @extend_schema(
        tags=["experience"], summary="Send spans (OTLP/HTTP)", operation_id="send_traces",
        request={JSON: OpenApiTypes.OBJECT, PROTOBUF: OpenApiTypes.BINARY},
        responses={
            (200, JSON): TracesAnswer, (200, PROTOBUF): OpenApiTypes.BINARY,
            **dict.fromkeys((400, 401, 403, 413, 415, 429, 503), ErrorAnswer),
        },
    )  # fmt: skip
    def post(self, request: HttpRequest) -> HttpResponse:
        """An ``ExportTraceServiceRequest``, protobuf or JSON, also packed with gzip.

        Answers in the request's form. Tool spans become the calls of a task for each trace; sending a span
        again changes nothing. ``partialSuccess`` counts spans that could not be used and says why.
        """
        export = read_export(request)
        try:
            received = receive_spans(workspace_id=workspace_of(request), export=export, by=actor_of(request))
        except BadRecordError as bad:
            raise ParseError(f"The body is no trace export: {bad}.") from bad
        except OperationalError as error:
            raise Unavailable("The store is busy; send the same again.") from error
        return answer(request, received)

    def _refuse(self, error: Exception) -> HttpResponse:
        """Exporters of protobuf get a ``Status``, with the same code and headers."""
        refusal = super()._refuse(error)
        if request_type(self.request) == PROTOBUF:
            detail = read_json(refusal.content).get("detail", "")
            refusal.content = encode_status(str(detail))
            refusal["Content-Type"] = PROTOBUF
        return refusal


def request_type(request: HttpRequest) -> str:
    """The media type of the body, without parameters."""
    return (request.content_type or "").lower()


def read_export(request: HttpRequest) -> Any:
    """The export as its JSON form. Answers 400, 413 or 415."""
    kind = request_type(request)
    if kind not in (PROTOBUF, JSON):
        raise UnsupportedMediaType(kind, f"Send {PROTOBUF} or {JSON}.")
    body = read_unpacked(request, settings.MAX_BODY_BYTES)
    if kind == PROTOBUF:
        try:
            return decode_request(body)
        except UndecodableError as error:
            raise ParseError(f"The body is {error}.") from error
    export = read_json(clean_json(body))
    if is_too_deep([export], MAX_LEVELS):
        raise ParseError(f"Values are nested more than {MAX_LEVELS} levels deep.")
    return export


def answer(request: HttpRequest, received: Received) -> HttpResponse:
    """An ``ExportTraceServiceResponse`` in the request's form."""
    reason = "; ".join(received.reasons)
    if request_type(request) == PROTOBUF:
        return HttpResponse(encode_response(received.rejected, reason), content_type=PROTOBUF)
    partial = {"rejectedSpans": str(received.rejected), "errorMessage": reason}
    return json_response({"partialSuccess": partial} if received.rejected else {})
