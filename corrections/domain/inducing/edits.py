"""What was done between a call that failed and the one that then worked, said so that it fits other calls.

An argument's own value, or that of another argument, is reused from the input wherever it explains the new
one; a literal of the first run is a guess and needs a second run that says the same.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from corrections.domain.inducing.features import REDACTED, is_long_text
from corrections.domain.inducing.phrases import field

MAX_OPERATIONS = 2
MAX_FIELDS = 60
MAX_WORD = 80
MAX_TEXT = 4_000
Operation = dict[str, Any]
_TOKENS = re.compile(r"\w+|\W+")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_CASTS = ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"))


@dataclass(frozen=True)
class Edit:
    """Operations of a ``PARAMETER_TRANSFORM``.

    ``is_general``: one run is enough, because they hold no literal taken from it or one that is nearly the
    same as what it replaces.
    """

    operations: tuple[str, ...]
    is_general: bool

    def detail(self) -> dict[str, Any]:
        """The action detail of the rule."""
        return {"operations": [json.loads(operation) for operation in self.operations]}

    @property
    def is_of_words(self) -> bool:
        """Whether it does nothing but replace words of a text."""
        return all(json.loads(operation)["op"] == "replace_words" for operation in self.operations)

    def said(self) -> str:
        """What a rule that replaces words is called; blank for any other."""
        words = [pair for part in self.operations for pair in json.loads(part).get("words", {}).items()]
        return ", ".join(f"{new} in place of {old}" for old, new in words)


def edit_between(failed: Mapping[str, Any], fixed: Mapping[str, Any]) -> Edit | None:
    """The edit that turns one input into the other; None where it is none, too large or not to be said."""
    if len(failed) > MAX_FIELDS or len(fixed) > MAX_FIELDS:
        return None
    names = [name for name in dict.fromkeys((*failed, *fixed)) if not _same(failed, fixed, name)]
    if not names or len(names) > 2 * MAX_OPERATIONS or not all(_is_plain(name) for name in names):
        return None
    gone = [name for name in names if name not in fixed]
    new = [name for name in names if name not in failed]
    operations: list[Operation | None] = []
    for name in new:
        source = next((old for old in gone if failed[old] == fixed[name]), None)
        if source is not None:
            gone.remove(source)
            operations.append({"op": "rename", "field": source, "to": name})
        else:
            operations.append(_added(name, fixed[name], failed))
    operations += [{"op": "remove", "field": name} for name in gone]
    operations += [
        _changed(name, failed[name], fixed[name], failed)
        for name in names
        if name in failed and name in fixed
    ]
    return _edit(operations)


def _edit(operations: list[Operation | None]) -> Edit | None:
    said = [operation for operation in operations if operation is not None]
    if not said or len(said) < len(operations) or len(said) > MAX_OPERATIONS:
        return None
    general = all(operation["op"] in ("rename", "cast", "expression") for operation in said)
    return Edit(tuple(json.dumps(part, sort_keys=True, ensure_ascii=False) for part in said), general)


def _same(failed: Mapping[str, Any], fixed: Mapping[str, Any], name: str) -> bool:
    if (name in failed) != (name in fixed):
        return False
    one, other = failed[name], fixed[name]
    return type(one) is type(other) and bool(one == other)


def _is_plain(name: Any) -> bool:
    return isinstance(name, str) and bool(_PLAIN.match(name))


def _is_literal(value: Any) -> bool:
    """A single value; a whole text of one run is no correction of another call."""
    if isinstance(value, str):
        return not is_long_text(value) and "{{" not in value and REDACTED not in value
    return isinstance(value, bool | int | float)


def _added(name: str, value: Any, failed: Mapping[str, Any]) -> Operation | None:
    for other in _equal_fields(value, failed):
        return {"op": "expression", "field": name, "expression": field("input", other)}
    return {"op": "set_default", "field": name, "default_value": value} if _is_literal(value) else None


def _equal_fields(value: Any, failed: Mapping[str, Any]) -> Iterator[str]:
    """Arguments with the very value; a flag or a small number is equal by chance too often."""
    telling = (isinstance(value, str) and len(value) > 1) or (type(value) is int and abs(value) > MAX_FIELDS)
    for name, other in failed.items() if telling else ():
        if _is_plain(name) and type(other) is type(value) and other == value:
            yield name


def _changed(name: str, old: Any, new: Any, failed: Mapping[str, Any]) -> Operation | None:
    kind = _cast(old, new)
    if kind:
        return {"op": "cast", "field": name, "to": kind}
    for other in _equal_fields(new, failed):
        return {"op": "expression", "field": name, "expression": field("input", other)}
    if isinstance(old, str) and isinstance(new, str):
        return _rewritten(name, old, new)
    if old is None and _is_literal(new):
        return {"op": "set_default", "field": name, "default_value": new}
    if not (_is_literal(old) and _is_literal(new)):
        return None
    return {"op": "map_values", "field": name, "mapping": {json.dumps(old): new}}


def _cast(old: Any, new: Any) -> str:
    if isinstance(new, list) and len(new) == 1 and type(new[0]) is type(old) and new[0] == old:
        return "list"
    if type(old) is type(new) or not isinstance(old, bool | int | float | str):
        return ""
    for kind, name in _CASTS:
        if type(new) is kind and str(old).strip().casefold() == str(new).casefold():
            return name
    return ""


def _rewritten(name: str, old: str, new: str) -> Operation | None:
    """A text as another text: trimmed, in another case, one word replaced, one known value for another."""
    where = field("input", name)
    for text, expression in (
        (old.strip(), f"{where}.trim()"),
        (old.lower(), f"{where}.lowerAscii()"),
        (old.upper(), f"{where}.upperAscii()"),
    ):
        if text == new and old.isascii():
            return {"op": "expression", "field": name, "expression": expression}
    swapped = _swapped_word(old, new)
    if swapped and len(old.split()) > 1:
        return {"op": "replace_words", "field": name, "words": {swapped[0].lower(): swapped[1]}}
    if old.strip() and _is_literal(old) and _is_literal(new):
        return {"op": "map_values", "field": name, "mapping": {old: new}}
    if not old.strip() and _is_literal(new):
        return {"op": "set_default", "field": name, "default_value": new}
    return None


def _swapped_word(old: str, new: str) -> tuple[str, str] | None:
    """The one word that was replaced everywhere by one other."""
    if len(old) > MAX_TEXT or len(new) > MAX_TEXT:
        return None
    before, after = _TOKENS.findall(old), _TOKENS.findall(new)
    swaps = {(one, other) for one, other in zip(before, after, strict=False) if one != other}
    if len(before) != len(after) or len(swaps) != 1:
        return None
    ((one, other),) = swaps
    return (one, other) if _PLAIN.match(one) and _PLAIN.match(other) and len(one) <= MAX_WORD else None
