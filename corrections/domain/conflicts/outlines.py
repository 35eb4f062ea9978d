"""The outline of a condition: constants its fields must have. Two outlines that exclude each other prove,
without a solver, that two conditions never hold together.

An outline is made of atoms (``hgmem.rules.atoms``): where one is false the condition is not true.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hgmem.rules.atoms import Atom, atoms_of
from hgmem.rules.tree import Call, Const, Node, Read, conjuncts

_EXACT = 2**53
Key = tuple[Read, str]


@dataclass
class Field:
    """What one field (or its trimmed, folded text, or its size) must be like."""

    values: set[tuple[str, Any]] | None = None
    prefixes: list[str] = field(default_factory=list)
    suffixes: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    low: tuple[float, bool] | None = None
    high: tuple[float, bool] | None = None
    present: bool = False
    members: list[str] = field(default_factory=list)
    patterns: list[str] = field(default_factory=list)
    """Only for sketches: the first of several alternatives may stand here."""

    @property
    def is_text(self) -> bool:
        """Only a text can pass."""
        return bool(self.prefixes or self.suffixes or self.parts)

    @property
    def is_number(self) -> bool:
        """Only a number can pass."""
        return self.low is not None or self.high is not None

    def allows(self, kind: str, value: Any) -> bool:
        """Whether a constant passes the tests."""
        if self.is_text:
            return kind == "text" and _reads(value, self)
        if self.is_number:
            return kind == "number" and _lies(value, self)
        return kind != "null" or not self.present


Outline = Mapping[Key, Field]


def outline_of(*trees: Node) -> Outline:
    """The outline of a condition, or of several that are to hold together."""
    outline: dict[Key, Field] = {}
    for atom in (atom for tree in trees for atom in atoms_of(tree)):
        _add(outline.setdefault((atom.read, atom.via), Field()), atom)
    for tree in trees:
        for part in conjuncts(tree):
            read, pattern = _matched(part)
            if read is not None:
                outline.setdefault((read, ""), Field()).patterns.append(pattern)
    return outline


def _matched(node: Node) -> tuple[Read | None, str]:
    """The field and the pattern of ``field.matches(pattern)``; of several alternatives the first."""
    match node:
        case Call(function="_||_", args=(first, *_)):
            return _matched(first)
        case Call(function="matches", args=(Read() as read, Const(value=pattern))) if read.path:
            return read, pattern
    return None, ""


def apart(one: Outline, other: Outline) -> bool:
    """Whether two conditions surely never hold together. False when it is not sure."""
    if len(one) > len(other):
        one, other = other, one
    return any(key in other and _exclude(tests, other[key]) for key, tests in one.items())


def _add(tests: Field, atom: Atom) -> None:
    match atom.kind:
        case "eq":
            values = set(map(_key, atom.values))
            tests.values = values if tests.values is None else tests.values & values
        case "prefix":
            tests.prefixes += atom.values
        case "suffix":
            tests.suffixes += atom.values
        case "contains":
            tests.parts += atom.values
        case "gt" | "ge":
            bound = (float(atom.values[0]), atom.kind == "gt")
            tests.low = bound if tests.low is None else max(tests.low, bound)
        case "lt" | "le":
            bound = (float(atom.values[0]), atom.kind == "lt")
            tests.high = bound if tests.high is None else min(tests.high, (bound[0], bound[1]))
        case "present":
            tests.present = True
        case "member":
            tests.members += atom.values


def _key(value: Any) -> tuple[str, Any]:
    if value is None:
        return "null", None
    if isinstance(value, bool):
        return "bool", value
    return ("text", value) if isinstance(value, str) else ("number", float(value))


def _exclude(one: Field, other: Field) -> bool:
    if one.values is not None and other.values is not None and not one.values & other.values:
        return True
    for some, tests in ((one, other), (other, one)):
        if some.values is not None and not any(tests.allows(*value) for value in some.values):
            return True
    if (one.is_text and other.is_number) or (one.is_number and other.is_text):
        return True
    return (
        _affixes_apart(one.prefixes, other.prefixes, str.startswith)
        or _affixes_apart(one.suffixes, other.suffixes, str.endswith)
        or _bounds_apart(one.low, other.high)
        or _bounds_apart(other.low, one.high)
    )


def _affixes_apart(some: Iterable[str], others: list[str], test: Any) -> bool:
    return any(not (test(a, b) or test(b, a)) for a in some for b in others)


def _bounds_apart(low: tuple[float, bool] | None, high: tuple[float, bool] | None) -> bool:
    """Beyond 2**53 an integer is rounded when it meets a double: then only a clear gap counts."""
    if low is None or high is None:
        return False
    return low[0] > high[0] or (low[0] == high[0] and (low[1] or high[1]) and abs(low[0]) < _EXACT)


def _reads(text: str, tests: Field) -> bool:
    return (
        all(map(text.startswith, tests.prefixes))
        and all(map(text.endswith, tests.suffixes))
        and all(part in text for part in tests.parts)
    )


def _lies(number: float, tests: Field) -> bool:
    alone = (number, False)
    return not (_bounds_apart(tests.low, alone) or _bounds_apart(alone, tests.high))
