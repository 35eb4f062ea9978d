"""Any value as bounded, plain JSON: for questions and for what is recorded.

Tools take and return whatever they like. Here data classes, pydantic models, mappings, sets, times and so on
become JSON values; what has no JSON form becomes a short text; what is too large or too deep is cut, never
refused. Running an agent's ``__repr__`` or ``model_dump`` may fail: then the type's name stands for it.
"""

import dataclasses
import math
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any, Final
from uuid import UUID

MAX_DEPTH: Final = 40
MAX_VALUES: Final = 20_000
MAX_TEXT_CHARS: Final = 500_000
MAX_CHARS: Final = 2_000_000
MAX_REPR_CHARS: Final = 500
CUT: Final = "…"


def plain(value: Any) -> Any:
    """The value as JSON: None, bool, int, finite float, str, lists and dictionaries with text keys.

    A value that is all that already comes back as a copy with the same content.
    """
    return _Copy().copy(value, MAX_DEPTH)


class _Copy:
    """One copy, with what is left of its budget."""

    __slots__ = ("chars", "values")

    def __init__(self) -> None:
        self.values = MAX_VALUES
        self.chars = MAX_CHARS

    def copy(self, value: Any, depth: int) -> Any:  # noqa: PLR0911 - the kinds of JSON
        kind = value.__class__
        if kind is str:
            return self._text(value)
        if value is None or kind is bool or kind is int:
            return value
        if kind is float:
            return value if math.isfinite(value) else str(value)
        if depth <= 0 or self.values <= 0:
            return CUT
        if kind is dict:
            return self._mapping(value, depth)
        if kind is list or kind is tuple:
            return self._items(value, depth)
        try:
            return self.copy(_simpler(value), depth - 1)
        except Exception:  # whatever an object of the agent does, its call goes on
            return f"<{kind.__name__}>"

    def _text(self, text: str) -> str:
        room = min(MAX_TEXT_CHARS, max(self.chars, 0))
        self.chars -= len(text)
        return text if len(text) <= room else text[:room] + CUT

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, part in value.items():
            if self.values <= 0:
                result[CUT] = f"{len(value) - len(result)} more"
                break
            self.values -= 1
            name = key if key.__class__ is str else str(key.value if isinstance(key, Enum) else key)
            result[self._text(name)] = self.copy(part, depth - 1)
        return result

    def _items(self, value: Iterable[Any], depth: int) -> list[Any]:
        result = []
        for part in value:
            if self.values <= 0:
                result.append(CUT)
                break
            self.values -= 1
            result.append(self.copy(part, depth - 1))
        return result


def _simpler(value: Any) -> Any:  # noqa: C901, PLR0911, PLR0912 - a table of kinds
    """One step nearer to JSON."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bool | int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, UUID | PurePath | Decimal):
        return str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(bytes(value))} bytes>"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return dump(mode="json")
    if isinstance(value, list | tuple):
        return list(value)
    return repr(value)[:MAX_REPR_CHARS]
