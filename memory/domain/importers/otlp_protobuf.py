"""OTLP's binary form: an ``ExportTraceServiceRequest`` as the dictionary that its JSON form would be.

The messages are declared here, in a descriptor pool of their own, from the field numbers of
opentelemetry-proto 1.x (``opentelemetry/proto/trace/v1/trace.proto`` and what it imports): the generated
modules of that name are shipped by several packages in different ages, and which one an installation ends up
with depends on the order. Fields that are not needed are left out; the parser passes over them.
"""

from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError

PACKAGE = "hgmem.otlp"
MESSAGES: dict[str, tuple[str, ...]] = {
    "ArrayValue": ("1 values AnyValue*",),
    "KeyValueList": ("1 values KeyValue*",),
    "AnyValue": (
        "1 string_value string|", "2 bool_value bool|", "3 int_value int64|", "4 double_value double|",
        "5 array_value ArrayValue|", "6 kvlist_value KeyValueList|", "7 bytes_value bytes|",
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
"""Message -> ``number name type``; ``*`` is repeated, ``|`` a member of the message's one-of."""


class UndecodableError(ValueError):
    """Bytes that are no such message."""


def decode_request(body: bytes) -> dict[str, Any]:
    """``{"resourceSpans": [...]}`` as protobuf's JSON mapping has it: identifiers in base64.

    Raises UndecodableError.
    """
    message = _class("Request")()
    try:
        message.ParseFromString(body)
    except (DecodeError, UnicodeDecodeError) as error:
        raise UndecodableError(f"not an ExportTraceServiceRequest: {error}") from error
    return {"resourceSpans": [], **MessageToDict(message)}


def encode_response(rejected: int, reason: str) -> bytes:
    """An ``ExportTraceServiceResponse``; empty when every span was taken and there is nothing to say."""
    response = _class("Response")()
    if rejected or reason:
        response.partial_success.rejected_spans = rejected
        response.partial_success.error_message = reason
    return bytes(response.SerializeToString())


def encode_status(message: str) -> bytes:
    """A ``google.rpc.Status``: what OTLP answers instead of a response when the whole request failed."""
    return bytes(_class("RpcStatus")(message=message).SerializeToString())


@cache
def _class(name: str) -> Any:
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"{PACKAGE}.{name}"))


@cache
def _pool() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="hgmem/otlp.proto", package=PACKAGE, syntax="proto3")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        if any(text.endswith("|") for text in fields):
            message.oneof_decl.add(name="value")
        for text in fields:
            _declare(message, text)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return pool


def _declare(message: Any, text: str) -> None:
    number, name, kind = text.rstrip("*|").split()
    kinds = descriptor_pb2.FieldDescriptorProto
    field = message.field.add(name=name, number=int(number))
    field.label = kinds.LABEL_REPEATED if text.endswith("*") else kinds.LABEL_OPTIONAL
    if kind in MESSAGES:
        field.type, field.type_name = kinds.TYPE_MESSAGE, f".{PACKAGE}.{kind}"
    else:
        field.type = kinds.Type.Value(f"TYPE_{kind.upper()}")
    if text.endswith("|"):
        field.oneof_index = 0
