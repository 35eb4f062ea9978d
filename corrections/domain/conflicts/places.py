"""Places: the fields of a context as solver variables.

A place is one path (``input.city``, ``history[0].tool``). It has a kind and, for each kind, a typed
value. The variables of the same path are the same in every condition, which is what makes two
conditions comparable.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final

import z3

from corrections.domain.conflicts.logic import Formula, all_of, any_of, implies
from hgmem.rules.values import INT64_MAX, INT64_MIN

MISSING, NULL, BOOL, INT, DOUBLE, NAN, TEXT, LIST, MAP = range(9)
"""What a place may hold. A double that is no number is a kind of its own: it equals nothing."""
ERROR, TIME, DURATION, TYPE, UINT = range(9, 14)
"""Kinds only a computed value may have."""

KINDS: Final = frozenset(range(9))
TYPE_NAMES: Final = {
    NULL: "null_type", BOOL: "bool", INT: "int", DOUBLE: "double", NAN: "double", TEXT: "string",
    LIST: "list", MAP: "map", UINT: "uint",
}  # fmt: skip
ITEMS: Final = 4
"""Items of a list that are modelled one by one; what a longer list holds is left open."""

_MAYBE_TEXT: Final = frozenset((MISSING, NULL, TEXT))
_FIXED: Final[dict[tuple[str | int, ...], frozenset[int]]] = {
    ("input",): frozenset((MAP,)),
    ("task",): frozenset((MAP,)),
    ("env",): frozenset((MAP,)),
    ("history",): frozenset((LIST,)),
    ("tool",): frozenset((MISSING, MAP)),
    ("error",): KINDS - {TEXT},
    ("task", "tags"): frozenset((MISSING, NULL, LIST)),
    **{("tool", name): _MAYBE_TEXT for name in ("name", "version", "schema_hash")},
    **{("task", name): _MAYBE_TEXT for name in ("id", "root", "goal", "agent")},
}
"""What ``parse_context`` admits."""

_KIND_BITS = 4


class Place:
    """One path of a context. ``path`` starts with the variable; integers are list items."""

    def __init__(self, path: tuple[str | int, ...], parent: "Place | None" = None) -> None:
        self.path = path
        self.parent = parent
        self.name = "/".join(map(str, path)) + f"~{len(path)}"
        self.possible = _possible(path)
        self.children: dict[str | int, Place] = {}
        self.kind = z3.BitVec(f"{self.name}#kind", _KIND_BITS)
        self._is: dict[int, Formula] = {}

    def holds(self, kind: int) -> Formula:
        """The place has this kind."""
        if kind not in self._is:
            only = len(self.possible) == 1
            self._is[kind] = (
                (self.kind == kind) if not only and kind in self.possible else kind in self.possible
            )
        return self._is[kind]

    def child(self, step: str | int) -> "Place":
        """The place of a field or of an item."""
        if step not in self.children:
            self.children[step] = Place((*self.path, step), self)
        return self.children[step]

    @cached_property
    def flag(self) -> Any:
        """The value when it is a bool."""
        return z3.Bool(f"{self.name}#flag")

    @cached_property
    def whole(self) -> Any:
        """The value when it is an int."""
        return z3.Int(f"{self.name}#int")

    @cached_property
    def real(self) -> Any:
        """The value when it is a double. Infinity is a very large number here."""
        return z3.Real(f"{self.name}#real")

    @cached_property
    def text(self) -> Any:
        """The value when it is text."""
        return z3.String(f"{self.name}#text")

    @cached_property
    def length(self) -> Any:
        """The items when it is a list, the entries when it is a map."""
        return z3.Int(f"{self.name}#length")

    @cached_property
    def laws(self) -> list[Formula]:
        """What is true of every context: the kinds there can be, and the range of an int."""
        laws: list[Formula] = []
        if len(self.possible) > 1:
            laws.append(any_of(self.holds(kind) for kind in sorted(self.possible)))
        if INT in self.possible:
            laws.append(implies(self.holds(INT), all_of((self.whole >= INT64_MIN, self.whole <= INT64_MAX))))
        if self.possible & {LIST, MAP}:
            laws.append(self.length >= 0)
        return laws

    def up(self) -> Iterator["Place"]:
        """The place and those it lies in."""
        place: Place | None = self
        while place is not None:
            yield place
            place = place.parent


def _possible(path: tuple[str | int, ...]) -> frozenset[int]:
    if path in _FIXED:
        return _FIXED[path]
    if len(path) == 2 and path[0] == "history":
        return frozenset((MAP,))
    if path[:2] == ("task", "tags"):
        return frozenset((TEXT,))
    if isinstance(path[-1], int):
        return KINDS - {MISSING}
    return KINDS
