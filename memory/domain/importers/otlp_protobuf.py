"""OTLP's binary form: an ``ExportTraceServiceRequest`` as the dictionary that its JSON form would be.

The field numbers are those of opentelemetry-proto 1.x (``opentelemetry/proto/trace/v1/trace.proto`` and what
it imports). Fields that are not needed are left out; the parser passes over them.
"""

from functools import cache
from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError

from hgmem.messages import declare

MESSAGES: dict[str, tuple[str, ...]] = {
    "ArrayValue": ("1 values AnyValue*",),
    "KeyValueList": ("1 values KeyValue*",),
    "AnyValue": (
        "1 string_value string|value", "2 bool_value bool|value", "3 int_value int64|value",
        "4 double_value double|value", "5 array_value ArrayValue|value",
        "6 kvlist_value KeyValueList|value", "7 bytes_value bytes|value",
    ),
    "KeyValue": ("1 key string", "2 value AnyValue"),
    "Scope": ("1 name string", "2 version string"),
    "Resource": ("1 attributes KeyValue*",),
    "Status": ("2 message string", "3 code int32"),
    "Event": ("1 time_unix_nano fixed64", "2 name string", "3 attributes KeyValue*"),
    "Span": (
        "1 trace_id bytes", "2 span_id bytes", "4 parent_span_id bytes", "5 name string", "6 kind int32",
        "7 start_time_unix_nano fixed64", "8 end_time_unix_nano fixed64", "9 attributes KeyValue*",
        "11 events Event*", "15 status Status",
    ),
    "ScopeSpans": ("1 scope Scope", "2 spans Span*"),
    "ResourceSpans": ("1 resource Resource", "2 scope_spans ScopeSpans*"),
    "Request": ("1 resource_spans ResourceSpans*",),
    "PartialSuccess": ("1 rejected_spans int64", "2 error_message string"),
    "Response": ("1 partial_success PartialSuccess",),
    "RpcStatus": ("1 code int32", "2 message string"),
}  # fmt: skip


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
