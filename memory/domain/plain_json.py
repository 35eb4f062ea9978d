"""JSON as it comes in: decoded whole, storable by every database, never nested without end.

A NUL character and half of a surrogate pair, which PostgreSQL cannot store and truncating clients do send,
become U+FFFD, in the bytes (``clean_json``) or in a value (``storable``).
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

MAX_DEPTH = 64
REPLACEMENT = "\ufffd"

_ESCAPES = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\u0000|\\.",
    re.DOTALL,
)
_REPLACEMENT_ESCAPE = b"\\ufffd"
_PAIR_LENGTH = 12


class InvalidJSONError(ValueError):
    """Bytes that are no JSON; the text says why."""


def decode_json(body: bytes) -> Any:
    """The value, with integers of any size as they are. Raises InvalidJSONError."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidJSONError(f"not valid JSON: {error}") from error
    except RecursionError as error:
        raise InvalidJSONError("nested too deeply") from error


def clean_json(body: bytes) -> bytes:
    """JSON text without what no database stores. The searches that decide are single passes in C."""
    if b"\\" not in body:  # the fastest of them
        return body
    if b"\\u0000" in body or b"\\ud" in body or b"\\uD" in body:
        return _ESCAPES.sub(_storable_escape, body)
    return body


def storable(value: Any) -> Any:
    """A JSON value without what no database stores. Raises RecursionError for absurd nesting."""
    if isinstance(value, str):
        return _storable_text(value)
    if isinstance(value, list | tuple):
        return [storable(item) for item in value]
    if isinstance(value, dict):
        return {storable(name): storable(item) for name, item in value.items()}
    return value


def is_too_deep(values: Sequence[object], levels: int = MAX_DEPTH) -> bool:
    """Whether one of the values is nested deeper; level by level through all of them at once.

    They were decoded from JSON: containers are exactly ``dict`` and ``list``.
    """
    level = [value for value in values if type(value) is dict or type(value) is list]
    for _ in range(levels):
        if not level:
            return False
        level = [
            child
            for holder in level
            for child in (holder.values() if type(holder) is dict else holder)
            if type(child) is dict or type(child) is list
        ]
    return bool(level)


def _storable_escape(match: re.Match[bytes]) -> bytes:
    text = match.group()
    if len(text) == _PAIR_LENGTH or text[1:2] != b"u":
        return text
    return _REPLACEMENT_ESCAPE


def _storable_text(text: str) -> str:
    if "\0" in text:
        text = text.replace("\0", REPLACEMENT)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
