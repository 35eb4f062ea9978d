"""The spans in an OTLP JSON export: attribute values decoded, identifiers in hexadecimal."""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

from memory.domain.importers.records import BadRecordError

HEXADECIMAL = re.compile(r"[0-9a-fA-F]+")
TRACE_BYTES, SPAN_BYTES = 16, 8
STATUS_ERROR = (2, "2", "STATUS_CODE_ERROR", "ERROR")


class Span:
    """One span of an export, as `spans_of` prepared it."""

    def __init__(self, row: dict[str, Any]) -> None:
        self._row = row
        self._attributes: dict[str, Any] = row["attributes"]
        self.id: str = row["spanId"]
        self.parent: str = row["parentSpanId"]
        self.name: str = row["name"]
        self.scope: str = row["scope"]
        self.begin_nanos: int = row["begin"]
        self.end_nanos: int = row["end"]

    def first(self, *names: str) -> Any:
        """The first of these attributes that has a value; None when none has."""
        return next(
            (self._attributes[name] for name in names if self._attributes.get(name) not in (None, "")), None
        )

    @property
    def failed(self) -> bool:
        return self._row["status"].get("code") in STATUS_ERROR or self.first("error.type") is not None

    def failure(self) -> tuple[str, str]:
        """(error type, message): from the last exception event, else from the attributes and the status."""
        events: list[dict[str, Any]] = self._row["events"]
        raised = [event for event in events if event.get("exception.type")]
        exception = raised[-1] if raised else {}
        kind = str(exception.get("exception.type") or self.first("error.type") or "")
        message = exception.get("exception.message") or self._row["status"].get("message")
        return kind, str(message or self.first("error.message", "exception.message") or kind)


def spans_of(export: Any) -> Iterator[dict[str, Any] | BadRecordError]:
    """The spans of one export as flat rows, or what is wrong with one.

    Raises BadRecordError when it is no trace export at all.
    """
    resources = _either(export, "resourceSpans", "resource_spans")
    if not isinstance(resources, list):
        raise BadRecordError("expected an object with resourceSpans")
    for resource in resources:
        shared = _attributes(_either(_either(resource, "resource"), "attributes"))
        for scoped in _list(resource, "scopeSpans", "scope_spans", "instrumentationLibrarySpans"):
            scope = _either(_either(scoped, "scope"), "name")
            for span in _list(scoped, "spans"):
                yield _row(span, shared, scope if isinstance(scope, str) else "")


def decode_value(value: Any) -> Any:
    """An OTLP AnyValue as a JSON value; 64-bit integers come as text, bytes stay base64 text."""
    if not isinstance(value, dict) or len(value) != 1:
        return None
    (kind, inner), *_ = value.items()
    match kind.replace("_", "").lower():
        case "stringvalue" | "boolvalue" | "doublevalue" | "bytesvalue":
            return inner
        case "intvalue":
            return _integer(inner)
        case "arrayvalue":
            return [decode_value(item) for item in _list(inner, "values")]
        case "kvlistvalue":
            return _attributes(_either(inner, "values"))
    return None


def _row(span: Any, shared: dict[str, Any], scope: str) -> dict[str, Any] | BadRecordError:
    trace = _identifier(_either(span, "traceId", "trace_id"), TRACE_BYTES)
    if not trace:
        return BadRecordError("traceId: expected hexadecimal or base64 text")
    status = _either(span, "status")
    name = _either(span, "name")
    return {
        "traceId": trace,
        "spanId": _identifier(_either(span, "spanId", "span_id"), SPAN_BYTES),
        "parentSpanId": _identifier(_either(span, "parentSpanId", "parent_span_id"), SPAN_BYTES),
        "name": name if isinstance(name, str) else "",
        "scope": scope,
        "attributes": shared | _attributes(_either(span, "attributes")),
        "begin": _integer(_either(span, "startTimeUnixNano", "start_time_unix_nano")) or 0,
        "end": _integer(_either(span, "endTimeUnixNano", "end_time_unix_nano")) or 0,
        "status": status if isinstance(status, dict) else {},
        "events": [_attributes(_either(event, "attributes")) for event in _list(span, "events")],
    }


def _attributes(listed: Any) -> dict[str, Any]:
    pairs = [pair for pair in listed if isinstance(pair, dict)] if isinstance(listed, list) else []
    return {str(pair["key"]): decode_value(pair.get("value")) for pair in pairs if "key" in pair}


def _identifier(value: Any, size: int) -> str:
    """Hexadecimal as it is, base64 (protobuf's own JSON) turned into it; empty when it is neither."""
    if not isinstance(value, str) or not value:
        return ""
    if len(value) == 2 * size and HEXADECIMAL.fullmatch(value):
        return value.lower()
    try:
        decoded = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        decoded = b""
    if len(decoded) == size:
        return decoded.hex()
    return value.lower() if HEXADECIMAL.fullmatch(value) else ""


def _integer(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        return int(value)
    except (TypeError, ValueError):
        return None


def _either(holder: Any, *names: str) -> Any:
    if not isinstance(holder, dict):
        return None
    return next((holder[name] for name in names if name in holder), None)


def _list(holder: Any, *names: str) -> list[Any]:
    found = _either(holder, *names)
    return found if isinstance(found, list) else []
