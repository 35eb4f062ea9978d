"""Readable CEL, written the way a person would: literals, places in a call's input, whole words."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Place = tuple[str | int, ...]

_NAME = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)
_RESERVED = frozenset(
    ("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let",
     "loop", "namespace", "null", "package", "return", "true", "var", "void", "while")
)  # fmt: skip


@dataclass(frozen=True)
class Leaf:
    """One scalar of an input and the place where it stands."""

    path: Place
    value: str | int | float | bool | None

    @property
    def container(self) -> Place:
        """The list element (or the input itself) that the leaf belongs to."""
        last = max((at for at, part in enumerate(self.path) if isinstance(part, int)), default=-1)
        return self.path[: last + 1]


def leaves(value: Any, path: Place = ()) -> Iterator[Leaf]:
    """Every scalar of a JSON value, in order."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, (*path, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves(inner, (*path, index))
    else:
        yield Leaf(path, value)


def arguments(args: dict[str, Any], path: Place = ()) -> dict[Place, Any]:
    """Every scalar and every list of an input that is reached without going into a list."""
    found: dict[Place, Any] = {}
    for name, value in args.items():
        found |= arguments(value, (*path, name)) if isinstance(value, dict) else {(*path, name): value}
    return found


def value_at(args: dict[str, Any], path: Place) -> Any:
    """The value of an argument; None where the input has no such place."""
    value: Any = args
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def literal(value: Any) -> str:
    """A CEL literal: JSON is CEL, but for huge integers, which are written as doubles."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(key)}: {literal(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(literal(inner) for inner in value) + "]"
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        return repr(float(value))
    return json.dumps(value, ensure_ascii=False)


def field(owner: str, name: str) -> str:
    """``owner.name``, or ``owner["name"]`` where the name is no identifier."""
    return f"{owner}.{name}" if _NAME.match(name) and name not in _RESERVED else f"{owner}[{literal(name)}]"


def place(path: Place, test: Callable[[str], str], owner: str = "input", names: str = "xyz") -> str:
    """CEL saying that ``test`` holds at ``path``, in some element of every list on the way."""
    if not path:
        return test(owner)
    head, rest = path[0], path[1:]
    if isinstance(head, str):
        return place(rest, test, field(owner, head), names)
    return f"{owner}.exists({names[0]}, {place(rest, test, names[0], names[1:])})"


def equals(value: Any) -> Callable[[str], str]:
    """A test: it is exactly this value."""
    return lambda where: f"{where} == {literal(value)}"


def has_word(word: str) -> Callable[[str], str]:
    """A test: the text holds ``word`` as a whole word in any case (as a part, where its ends are signs)."""

    def test(where: str) -> str:
        if not (_is_word_end(word[0]) and _is_word_end(word[-1])):
            return f"{where}.contains({literal(word)})"
        return f"{where}.matches({literal('(?i)' + _BOUNDARY + _SPECIAL.sub(_ESCAPED, word) + _BOUNDARY)})"

    return test


_BOUNDARY = r"\b"
_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$]")
_ESCAPED = r"\\\g<0>"


def _is_word_end(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")
