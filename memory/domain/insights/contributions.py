"""What a task added to each counter, packed small, so that it can be taken away when the task changes."""

import zlib
from typing import Any

import msgspec

JSON = Any
MAX_BYTES = 65_536
"""Of one counter's contribution as JSON: a task that says more is refused, with the reason."""
MAX_PACKED = 64 * MAX_BYTES


class TooLargeError(ValueError):
    """A contribution is larger than ``MAX_BYTES``."""


def normal(value: JSON) -> JSON:
    """The value as it will come back from the database.

    Raises TooLargeError, and TypeError for what is no JSON.
    """
    encoded = msgspec.json.encode(value)
    if len(encoded) > MAX_BYTES:
        raise TooLargeError(f"It would add {len(encoded):,} bytes; at most {MAX_BYTES:,} are kept.")
    return msgspec.json.decode(encoded)


def pack(parts: dict[str, JSON]) -> bytes:
    """Contributions by counter, as they are stored."""
    return zlib.compress(msgspec.json.encode(parts), 1) if parts else b""


def unpack(stored: bytes) -> dict[str, JSON]:
    """What :func:`pack` made. Anything else is an empty contribution: it cannot be taken away."""
    if not stored:
        return {}
    try:
        parts = msgspec.json.decode(zlib.decompressobj().decompress(stored, MAX_PACKED))
    except (zlib.error, msgspec.DecodeError):
        return {}
    return parts if isinstance(parts, dict) else {}
