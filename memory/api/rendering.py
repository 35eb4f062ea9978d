"""JSON out, through orjson: several times faster than the standard library on the hot path."""

import json
from typing import Any

import orjson
from rest_framework.renderers import BaseRenderer

from memory.domain.plain_json import decode_json


class JSONRenderer(BaseRenderer):
    """UTF-8 JSON. Dates are ISO 8601, UUIDs strings; what orjson cannot write is written as ``str()``."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None
    ) -> bytes:
        """The body, or nothing for an empty answer."""
        return b"" if data is None else encode(data)


def encode(data: Any) -> bytes:
    """JSON of anything that was read as JSON; the standard library writes what is beyond orjson."""
    try:
        return orjson.dumps(data, default=str, option=orjson.OPT_NON_STR_KEYS)
    except orjson.JSONEncodeError:  # an integer of more than 64 bits
        return json.dumps(data, default=str, ensure_ascii=False, separators=(",", ":")).encode()


def plain(data: Any) -> Any:
    """``data`` as bare JSON values, exactly as a caller will read it."""
    return decode_json(encode(data))
