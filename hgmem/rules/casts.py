"""Turning a JSON value into another type, strictly: what does not fit is refused."""

import json
import math
from typing import Any

from hgmem.rules.values import INT64_MAX, INT64_MIN


def cast_value(value: Any, kind: str) -> Any:
    """The value as string, integer, number, boolean, list (a single value wrapped) or json (text parsed).

    Raises:
        ValueError: the value has no such form.
    """
    try:
        return _CASTS[kind](value)
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise ValueError(f"no {kind}") from None


def _to_integer(value: Any) -> int:
    if isinstance(value, str):
        text = value.strip()
        number = int(text) if text.lstrip("+-").isdecimal() else float(text)
    else:
        number = value
    if isinstance(number, list | dict) or number != int(number) or not INT64_MIN <= number <= INT64_MAX:
        raise ValueError(value)
    return int(number)


def _to_number(value: Any) -> int | float:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(value)
    return number


def _to_boolean(value: Any) -> bool:
    key = value.strip().lower() if isinstance(value, str) else value
    if isinstance(key, list | dict):
        raise TypeError(value)
    if key in ("true", "yes", "1", 1):
        return True
    if key in ("false", "no", "0", 0):
        return False
    raise ValueError(value)


def _to_json(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return json.loads(value, parse_constant=_refuse)


def _refuse(name: str) -> Any:
    raise ValueError(name)


_CASTS = {
    "string": lambda value: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False),
    "integer": _to_integer,
    "number": _to_number,
    "boolean": _to_boolean,
    "list": lambda value: value if isinstance(value, list) else [value],
    "json": _to_json,
}
