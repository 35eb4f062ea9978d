"""From the bytes of a request to experience documents, or to errors that name the field.

Nothing here trusts its input: size, nesting, encoding and numbers are checked before any other
part of the product sees a value.
"""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import MAXYEAR

import msgspec

from memory.domain.experience import MAX_CALLS, CallDoc, ErrorDoc, ExperienceDoc
from memory.domain.plain_json import MAX_DEPTH, clean_json, is_too_deep

MAX_BODY_BYTES = 8 * 1024 * 1024
MAX_DOCUMENTS = 500

_PLACE = re.compile(r"\s*- at `(?:key in )?([^`]*)`$")


class FieldError(msgspec.Struct, frozen=True):
    """One thing wrong with one field; ``field`` is a dotted path, empty for the whole document."""

    field: str
    detail: str


class DocumentError(msgspec.Struct, frozen=True):
    """A document that was refused: its place in the batch, its external id if readable, the reasons."""

    index: int
    external_id: str
    errors: tuple[FieldError, ...]


class InvalidBodyError(ValueError):
    """The request as a whole is not readable JSON of the expected shape."""


class TooLargeError(ValueError):
    """The request as a whole is over a cap; nothing of it is stored."""


class _Envelope(msgspec.Struct, forbid_unknown_fields=True):
    experiences: list[ExperienceDoc]


_whole_list: msgspec.json.Decoder[list[ExperienceDoc]] = msgspec.json.Decoder(list[ExperienceDoc])
_whole_envelope: msgspec.json.Decoder[_Envelope] = msgspec.json.Decoder(_Envelope)
_outer_list: msgspec.json.Decoder[list[msgspec.Raw]] = msgspec.json.Decoder(list[msgspec.Raw])
_outer_object: msgspec.json.Decoder[dict[str, msgspec.Raw]] = msgspec.json.Decoder(dict[str, msgspec.Raw])
_document: msgspec.json.Decoder[ExperienceDoc] = msgspec.json.Decoder(ExperienceDoc)


def read_documents(
    body: bytes, *, max_bytes: int = MAX_BODY_BYTES, max_calls: int = MAX_CALLS
) -> list[ExperienceDoc | DocumentError]:
    """Read one document, a list of them, or ``{"experiences": [...]}``; the order is kept.

    What no database stores is replaced (see ``memory.domain.plain_json``). A document that is wrong
    gets a ``DocumentError`` in its place. A document that came twice in one batch is kept twice:
    merging them in order is the same as two requests.

    Raises InvalidBodyError (not JSON, wrong outer shape, nested too deeply, not UTF-8) and
    TooLargeError (bytes, documents, or calls over the cap).
    """
    if len(body) > max_bytes:
        raise TooLargeError(f"The request is {len(body)} bytes; at most {max_bytes} are accepted.")
    results = _read_items(clean_json(body))
    count = sum(count_calls(result) for result in results if isinstance(result, ExperienceDoc))
    if count > max_calls:
        raise TooLargeError(f"The request holds {count} calls; at most {max_calls} are accepted.")
    return results


def _read_items(body: bytes) -> list[ExperienceDoc | DocumentError]:
    """All documents in one pass; only when one is wrong, one by one to find out which."""
    docs = _read_whole(body)
    if docs is not None:
        _refuse_too_many(len(docs))
        return [_checked(index, doc) for index, doc in enumerate(docs)]
    items = _split(body)
    _refuse_too_many(len(items))
    return [_read_one(index, raw) for index, raw in enumerate(items)]


def _refuse_too_many(count: int) -> None:
    if count > MAX_DOCUMENTS:
        raise TooLargeError(f"The request holds {count} documents; at most {MAX_DOCUMENTS} are accepted.")


def _read_whole(body: bytes) -> list[ExperienceDoc] | None:
    """The documents of a batch in which everything has the right shape, else None."""
    try:
        if body[:1] == b"[":
            return _whole_list.decode(body)
        return _whole_envelope.decode(body).experiences
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def count_calls(doc: ExperienceDoc) -> int:
    """Calls in a document, flat and in steps."""
    return len(doc.calls) + sum(len(step.calls) for step in doc.steps)


def read_document(data: object) -> ExperienceDoc | DocumentError:
    """Validate an already decoded document, such as an importer makes; the checks are the same."""
    try:
        body = msgspec.json.encode(data)
    except UnicodeEncodeError:
        body = json.dumps(data).encode()
    except RecursionError:
        return DocumentError(0, "", (FieldError("", f"Nested more than {MAX_DEPTH} levels deep."),))
    return _read_one(0, clean_json(body))


def field_error(error: Exception) -> FieldError:
    """Turn a validation error of msgspec into a field path (``calls.3.input``) and a sentence."""
    text = str(error)
    place = _PLACE.search(text)
    path = place.group(1) if place else ""
    detail = text[: place.start()] if place else text
    dotted = path.removeprefix("$").replace("[...]", ".*").replace("[", ".").replace("]", "").strip(".")
    unknown = re.fullmatch(r"Object contains unknown field `([^`]*)`", detail)
    if unknown:
        return FieldError(f"{dotted}.{unknown.group(1)}".strip("."), "This field is not known.")
    missing = re.fullmatch(r"Object missing required field `([^`]*)`", detail)
    if missing:
        return FieldError(f"{dotted}.{missing.group(1)}".strip("."), "This field is required.")
    return FieldError(dotted, detail.rstrip(".") + ".")


def _split(body: bytes) -> Sequence[msgspec.Raw | bytes]:
    first = body.lstrip()[:1]
    try:
        if first == b"[":
            return _outer_list.decode(body)
        if first == b"{":
            outer = _outer_object.decode(body)
            if "experiences" not in outer:
                return [body]
            if len(outer) > 1:
                extra = ", ".join(sorted(outer.keys() - {"experiences"}))
                raise InvalidBodyError(f"Beside 'experiences' the request holds: {extra}.")
            return _outer_list.decode(outer["experiences"])
    except msgspec.ValidationError as error:
        raise InvalidBodyError(f"'experiences' must be a list of documents: {error}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidBodyError(f"The request is not valid JSON: {error}.") from error
    except RecursionError as error:
        raise InvalidBodyError(f"Values are nested more than {MAX_DEPTH} levels deep.") from error
    raise InvalidBodyError(
        "The request must be one document, a list of documents, or {'experiences': [...]}."
    )


def _read_one(index: int, raw: msgspec.Raw | bytes) -> ExperienceDoc | DocumentError:
    try:
        doc = _document.decode(raw)
    except (msgspec.ValidationError, UnicodeDecodeError) as error:
        return DocumentError(index, _external_id(raw), (field_error(error),))
    except RecursionError:
        return DocumentError(index, "", (FieldError("", f"Nested more than {MAX_DEPTH} levels deep."),))
    except msgspec.DecodeError as error:
        raise InvalidBodyError(f"The request is not valid JSON: {error}.") from error
    return _checked(index, doc)


def _checked(index: int, doc: ExperienceDoc) -> ExperienceDoc | DocumentError:
    """What types cannot say."""
    errors = tuple(_check(doc))
    return DocumentError(index, doc.external_id, errors) if errors else doc


def _external_id(raw: msgspec.Raw | bytes) -> str:
    try:
        data = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return ""
    found = data.get("external_id") if isinstance(data, dict) else None
    return found[:200] if isinstance(found, str) else ""


def _check(doc: ExperienceDoc) -> Iterator[FieldError]:
    moments = [("started_at", doc.started_at), ("finished_at", doc.finished_at)]
    moments += [(f"{place}.started_at", call.started_at) for place, call in _placed(doc) if call.started_at]
    for name, at in moments:
        if at is not None and not 1 < at.year < MAXYEAR:
            yield FieldError(name, f"Must lie between the years 2 and {MAXYEAR - 1}.")
    if doc.calls and doc.steps:
        yield FieldError("steps", "Send calls flat or grouped in steps, not both.")
    if is_too_deep([value for _, value in _free_values(doc)]):
        for place, value in _free_values(doc):
            if is_too_deep([value]):
                yield FieldError(place, f"Nested more than {MAX_DEPTH} levels deep.")


def _free_values(doc: ExperienceDoc) -> Iterator[tuple[str, object]]:
    """Everything whose shape is the sender's own, with its field path."""
    yield "env", doc.env
    for place, call in _placed(doc):
        yield f"{place}.input", call.input
        if call.output is not None:
            yield f"{place}.output", call.output
        if isinstance(call.error, ErrorDoc):
            yield f"{place}.error.detail", call.error.detail


def _placed(doc: ExperienceDoc) -> Iterator[tuple[str, CallDoc]]:
    for number, call in enumerate(doc.calls):
        yield f"calls.{number}", call
    for outer, step in enumerate(doc.steps):
        for inner, call in enumerate(step.calls):
            yield f"steps.{outer}.calls.{inner}", call
