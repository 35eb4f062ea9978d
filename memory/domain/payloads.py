"""Large values are kept once, by digest, and stand in the row as a short reference.

A reference reads ``{"$payload": sha256, "size": bytes, "preview": text}``. The functions are pure:
they return what the row keeps and what must be stored beside it.
"""

import hashlib
from typing import Any

import msgspec

ROW_CAP = 16 * 1024
HARD_CAP = 1024 * 1024
PREVIEW = 1_000

_encode = msgspec.json.Encoder(order="deterministic").encode


class Payload(msgspec.Struct, frozen=True):
    """A value stored once. ``digest`` is the SHA-256 of the whole JSON, also when ``content`` was cut."""

    digest: str
    size: int
    content: str
    truncated: bool = False


class Capped(msgspec.Struct, frozen=True):
    """What the row keeps, its JSON (so that nobody encodes it twice), and what is stored beside it."""

    value: Any
    encoded: bytes
    payload: Payload | None = None


def cap_value(value: Any, *, cap: int = ROW_CAP, hard_cap: int = HARD_CAP) -> Capped:
    """Keep a value whose JSON has at most ``cap`` bytes; otherwise refer to it.

    ``value`` is JSON-like and already redacted. A payload over ``hard_cap`` bytes keeps its first
    ``hard_cap`` bytes (cut at a whole character) and says so: ``truncated`` in row and payload. A value
    that *looks* like a reference, because an agent sent one, is wrapped the same way: a reference in a
    row is always ours.
    """
    encoded = _encode(value)
    if len(encoded) <= cap and not is_reference(value):
        return Capped(value=value, encoded=encoded)
    digest = hashlib.sha256(encoded).hexdigest()
    truncated = len(encoded) > hard_cap
    content = encoded[:hard_cap].decode(errors="ignore") if truncated else encoded.decode()
    preview = (
        value[:PREVIEW]
        if isinstance(value, str)
        else encoded[: 4 * PREVIEW].decode(errors="ignore")[:PREVIEW]
    )
    reference: dict[str, Any] = {"$payload": digest, "size": len(encoded), "preview": preview}
    if truncated:
        reference["truncated"] = True
    payload = Payload(digest=digest, size=len(encoded), content=content, truncated=truncated)
    return Capped(value=reference, encoded=_encode(reference), payload=payload)


def is_reference(value: Any) -> bool:
    """Whether a row's value stands for a payload."""
    return isinstance(value, dict) and isinstance(value.get("$payload"), str)


def restore(value: Any, payload: Payload | None) -> Any:
    """The whole value of a row: the row's own, or what its payload holds.

    A truncated payload cannot be read as JSON again; its text is returned. None stands for a payload
    that is gone: the preview is returned then.
    """
    if not is_reference(value):
        return value
    if payload is None:
        return value.get("preview", "")
    return payload.content if payload.truncated else msgspec.json.decode(payload.content)
