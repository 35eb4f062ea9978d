"""JSON out, through orjson: several times faster than the standard library on the hot path."""

from typing import Any

import orjson
from rest_framework.renderers import BaseRenderer


class JSONRenderer(BaseRenderer):
    """UTF-8 JSON. Dates are ISO 8601, UUIDs strings; what orjson cannot write is written as ``str()``."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None
    ) -> bytes:
        """The body, or nothing for an empty answer."""
        if data is None:
            return b""
        return orjson.dumps(data, default=str, option=orjson.OPT_NON_STR_KEYS)


def plain(data: Any) -> Any:
    """``data`` as bare JSON values, exactly as a caller will read it."""
    return orjson.loads(orjson.dumps(data, default=str, option=orjson.OPT_NON_STR_KEYS))
