"""From a document to rows that only lack the ids of their task: all the work that needs no transaction."""

from collections.abc import Iterator
from typing import Any

import msgspec

from memory.domain.experience import ExperienceDoc
from memory.domain.intake import DocumentError, FieldError
from memory.domain.payloads import Payload, cap_value
from memory.domain.records import CallRecord, InvalidRecordError, TaskRecord, normalize
from memory.writer.redactors import Scrub
from memory.writer.tables import Row, moment

MAX_ENV_BYTES = 64 * 1024
_encode = msgspec.json.Encoder().encode

CALL_FIELDS = (
    "workspace", "task", "recorded_at",
    "seq", "step", "tool", "tool_version", "input", "output", "status", "error", "duration_ms", "reasoning",
    "reasoning_digest", "receipt", "digest", "started_at", "receipt_settled_at",
)  # fmt: skip


class Prepared(msgspec.Struct, frozen=True):
    """A document ready to be merged. ``rows``: seq -> the call's values after ``recorded_at``."""

    record: TaskRecord
    rows: dict[int, Row]
    payloads: list[Payload]


def prepare(index: int, doc: ExperienceDoc, scrub: Scrub) -> Prepared | DocumentError:
    """Resolve, redact and cap one document; its errors name the fields."""
    try:
        record = normalize(doc, redactor=scrub.redactor, key=scrub.key)
    except InvalidRecordError as error:
        return DocumentError(index, doc.external_id, error.errors)
    if len(_encode(record.env)) > MAX_ENV_BYTES:
        detail = f"The environment is larger than {MAX_ENV_BYTES} bytes."
        return DocumentError(index, doc.external_id, (FieldError("env", detail),))
    if record.root_task == record.external_id:  # saying so adds nothing: it is the default
        record = msgspec.structs.replace(record, root_task="")
    payloads: list[Payload] = []
    rows = {call.seq: _call_row(call, payloads) for call in record.calls}
    return Prepared(record=record, rows=rows, payloads=payloads)


def as_json(value: Any) -> str:
    """JSON text for a column."""
    return _encode(value).decode()


def _call_row(call: CallRecord, payloads: list[Payload]) -> Row:
    return (
        call.seq, call.step, call.tool, call.tool_version,
        _capped(call.input, payloads), None if call.output is None else _capped(call.output, payloads),
        call.status, _error(call, payloads), call.duration_ms, call.reasoning, call.reasoning_digest,
        call.receipt, call.digest, moment(call.started_at), None,
    )  # fmt: skip


def _capped(value: Any, payloads: list[Payload]) -> str:
    capped = cap_value(value)
    if capped.payload:
        payloads.append(capped.payload)
    return capped.encoded.decode()


def _error(call: CallRecord, payloads: list[Payload]) -> str | None:
    """``{type?, message?, http_status?, detail?}``, or null when nothing was reported."""
    error = dict(_error_parts(call, payloads))
    return as_json(error) if error else None


def _error_parts(call: CallRecord, payloads: list[Payload]) -> Iterator[tuple[str, Any]]:
    if call.error_type:
        yield "type", call.error_type
    if call.error_message:
        yield "message", call.error_message
    if call.http_status is not None:
        yield "http_status", call.http_status
    if call.error_detail is not None:
        capped = cap_value(call.error_detail)
        if capped.payload:
            payloads.append(capped.payload)
        yield "detail", capped.value
