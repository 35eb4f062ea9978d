"""How much of a run is kept in its path. The evidence keeps the rest."""

from typing import Any

import msgspec

MAX_PARAMS = 8_000
MAX_OBSERVATION = 4_000
MAX_ATTEMPTS = 10
MAX_ATTEMPT = 1_000
MAX_SEQS = 50
MAX_TEXT = 1_000
MAX_GOAL = 20_000
MAX_NAME = 100
SHORT = 300

_encode = msgspec.json.Encoder(enc_hook=str).encode


def cut_text(text: str, size: int = MAX_TEXT) -> str:
    """At most ``size`` characters; a cut one ends with an ellipsis."""
    return text if len(text) <= size else text[: size - 1] + "…"


def cut_value(value: Any, size: int) -> Any:
    """A JSON value whose text has at most ``size`` characters, or the beginning of that text."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return cut_text(value, size)
    text = _encode(value).decode()
    return value if len(text) <= size else cut_text(text, size)


def cut_params(params: dict[str, Any], size: int = MAX_PARAMS) -> tuple[dict[str, Any], bool]:
    """Arguments of at most ``size`` characters, the longest cut first; whether any was cut."""
    if len(_encode(params)) <= size:
        return params, False
    share = max(SHORT, size // max(1, len(params)) - SHORT)
    cut = {cut_text(name, SHORT): cut_value(value, share) for name, value in list(params.items())[:SHORT]}
    if len(_encode(cut)) <= 4 * size:
        return cut, True
    return {"preview": cut_text(_encode(params).decode(), size)}, True
