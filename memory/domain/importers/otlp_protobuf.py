"""OTLP's binary form: an ``ExportTraceServiceRequest`` as the dictionary that its JSON form would be.

The field numbers are those of opentelemetry-proto 1.x (``opentelemetry/proto/trace/v1/trace.proto`` and what
it imports). Fields that are not needed are left out; the parser passes over them.
"""

from functools import cache
from typing import Any, Final

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError

from hgmem.messages import declare

MESSAGES: Final[dict[str, dict[str, tuple[int, str, str]]]] = {
    "ArrayValue": {
        "values": (1, "AnyValue", "*"),
    },
    "KeyValueList": {
        "values": (1, "KeyValue", "*"),
    },
    "AnyValue": {
        "string_value": (1, "string", "value"),
        "bool_value": (2, "bool", "value"),
        "int_value": (3, "int64", "value"),
        "double_value": (4, "double", "value"),
        "array_value": (5, "ArrayValue", "value"),
        "kvlist_value": (6, "KeyValueList", "value"),
        "bytes_value": (7, "bytes", "value"),
    },
    "KeyValue": {
        "key": (1, "string", ""),
        "value": (2, "AnyValue", ""),
    },
    "Scope": {
        "name": (1, "string", ""),
        "version": (2, "string", ""),
    },
    "Resource": {
        "attributes": (1, "KeyValue", "*"),
    },
    "Status": {
        "message": (2, "string", ""),
        "code": (3, "int32", ""),
    },
    "Event": {
        "time_unix_nano": (1, "fixed64", ""),
        "name": (2, "string", ""),
        "attributes": (3, "KeyValue", "*"),
    },
    "Span": {
        "trace_id": (1, "bytes", ""),
        "span_id": (2, "bytes", ""),
        "parent_span_id": (4, "bytes", ""),
        "name": (5, "string", ""),
        "kind": (6, "int32", ""),
        "start_time_unix_nano": (7, "fixed64", ""),
        "end_time_unix_nano": (8, "fixed64", ""),
        "attributes": (9, "KeyValue", "*"),
        "events": (11, "Event", "*"),
        "status": (15, "Status", ""),
    },
    "ScopeSpans": {
        "scope": (1, "Scope", ""),
        "spans": (2, "Span", "*"),
    },
    "ResourceSpans": {
        "resource": (1, "Resource", ""),
        "scope_spans": (2, "ScopeSpans", "*"),
    },
    "Request": {
        "resource_spans": (1, "ResourceSpans", "*"),
    },
    "PartialSuccess": {
        "rejected_spans": (1, "int64", ""),
        "error_message": (2, "string", ""),
    },
    "Response": {
        "partial_success": (1, "PartialSuccess", ""),
    },
    "RpcStatus": {
        "code": (1, "int32", ""),
        "message": (2, "string", ""),
    },
}


class UndecodableError(ValueError):
    """Bytes that are no such message."""


def decode_request(body: bytes) -> dict[str, Any]:
    """``{"resourceSpans": [...]}`` as protobuf's JSON mapping has it: identifiers in base64.

    Raises UndecodableError.
    """
    message = _classes()["Request"]()
    try:
        message.ParseFromString(body)
    except (DecodeError, UnicodeDecodeError) as error:
        raise UndecodableError(f"not an ExportTraceServiceRequest: {error}") from error
    return {"resourceSpans": [], **MessageToDict(message)}


def encode_response(rejected: int, reason: str) -> bytes:
    """An ``ExportTraceServiceResponse``; empty when every span was taken and there is nothing to say."""
    response = _classes()["Response"]()
    if rejected or reason:
        response.partial_success.rejected_spans = rejected
        response.partial_success.error_message = reason
    return bytes(response.SerializeToString())


def encode_status(message: str) -> bytes:
    """A ``google.rpc.Status``: what OTLP answers instead of a response when the whole request failed."""
    return bytes(_classes()["RpcStatus"](message=message).SerializeToString())


@cache
@cache
def _classes() -> dict[str, Any]:
    return declare("hgmem.otlp", MESSAGES)
