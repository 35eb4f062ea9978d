"""From the solver's model to a context: JSON that ``parse_context`` accepts."""

import re
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any, Final

import z3

from corrections.domain.conflicts.encoding import EPOCH, Encoder
from corrections.domain.conflicts.places import (
    BOOL,
    DOUBLE,
    INT,
    LIST,
    TEXT,
    Place,
)
from corrections.domain.conflicts.questions import Setting

_ESCAPE: Final = re.compile(r"\\u\{([0-9a-fA-F]+)\}")
_MAX_LENGTH: Final = 200
_ABSENT: Final = object()
_HIDDEN: Final = re.compile("[\x00-\x1f\ud800-\udfff]")


class UnfitError(Exception):
    """A model that is no context."""


class Example:
    """One model, read back."""

    def __init__(self, encoder: Encoder, model: z3.ModelRef, places: list[Place]) -> None:
        self._encoder = encoder
        self._model = model
        self._used = set(places)

    def context(self, setting: Setting) -> dict[str, Any]:
        """The context, with what the scopes ask for filled in.

        Raises:
            UnfitError: a value is too large for a context.
        """
        document: dict[str, Any] = {"point": setting.point}
        for name, root in self._encoder.roots.items():
            if root in self._used:
                value = self._value(root)
                if value is not _ABSENT and not (name == "error" and value is None):
                    document[name] = value
        return _filled(document, setting)

    def moment(self, setting: Setting) -> datetime:
        """The moment of the decision.

        Raises:
            UnfitError: it lies outside the calendar.
        """
        found = self._model.eval(self._encoder.now)
        if not z3.is_int_value(found):
            return setting.moment
        try:
            return EPOCH + timedelta(microseconds=found.as_long())
        except OverflowError:
            raise UnfitError("a moment outside the calendar") from None

    def differs(self) -> z3.BoolRef:
        """A formula that asks for another example."""
        same: list[Any] = []
        for place in self._used:
            kind = self._kind(place)
            same.append(place.kind == kind)
            term = {BOOL: "flag", INT: "whole", DOUBLE: "real", TEXT: "text", LIST: "length"}.get(kind)
            if term is not None:
                same.append(getattr(place, term) == self._model.eval(getattr(place, term), True))
        same.append(self._encoder.now == self._model.eval(self._encoder.now, True))
        return z3.Not(z3.And(same))

    def _kind(self, place: Place) -> int:
        if len(place.possible) == 1:
            return next(iter(place.possible))
        kind: int = self._model.eval(place.kind, True).as_long()
        return kind

    def _value(self, place: Place) -> Any:  # noqa: PLR0911 (one return a kind)
        match self._kind(place):
            case 0:
                return _ABSENT
            case 2:
                return z3.is_true(self._model.eval(place.flag, True))
            case 3:
                return self._model.eval(place.whole, True).as_long()
            case 4:
                return _double(self._model.eval(place.real, True))
            case 5:
                raise UnfitError("a number that is not finite")
            case 6:
                return _text(self._model.eval(place.text, True).as_string())
            case 7:
                return self._list(place)
            case 8:
                return self._fields(place)
            case _:
                return None

    def _fields(self, place: Place) -> dict[str, Any]:
        fields = {}
        for step, child in place.children.items():
            if isinstance(step, str) and child in self._used:
                value = self._value(child)
                if value is not _ABSENT:
                    fields[step] = value
        return fields

    def _list(self, place: Place) -> list[Any]:
        length = self._model.eval(place.length, True).as_long()
        if length > _MAX_LENGTH:
            raise UnfitError("a very long list")
        items = []
        for at in range(length):
            child = place.children.get(at)
            value = self._value(child) if child is not None and child in self._used else _ABSENT
            items.append(_plain_item(place) if value is _ABSENT else value)
        return items


def _plain_item(place: Place) -> Any:
    if place.path == ("history",):
        return {}
    return "" if place.path == ("task", "tags") else None


def _double(value: Any) -> float:
    try:
        return float(Fraction(value.numerator_as_long(), value.denominator_as_long()))
    except OverflowError:
        raise UnfitError("a number that is not finite") from None
    except AttributeError:
        raise UnfitError("a number that is no fraction") from None


def _text(escaped: str) -> str:
    """The solver's spelling of a text, read."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), escaped)


def readable(text: str) -> str:
    """A text without control characters, as a try: the evaluator says whether it still serves."""
    return _HIDDEN.sub("a", text)


def _filled(document: dict[str, Any], setting: Setting) -> dict[str, Any]:
    tool = document.setdefault("tool", {})
    if setting.tool:
        tool.setdefault("name", setting.tool)
    if setting.version:
        tool.setdefault("version", setting.version)
    if not tool:
        del document["tool"]
    if setting.tags or setting.agent:
        task = document.setdefault("task", {})
        if setting.agent:
            task.setdefault("agent", setting.agent)
        if setting.tags:
            tags = task.get("tags") or []
            task["tags"] = [*tags, *(tag for tag in setting.tags if tag not in tags)]
    document.setdefault("input", {})
    return document
