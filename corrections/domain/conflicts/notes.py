"""What comes along with the formulas of one condition: the places it uses, laws, and what was left open."""

from collections.abc import Callable
from typing import Any

import z3

from corrections.domain.conflicts.logic import Formula
from corrections.domain.conflicts.places import LIST, Place
from corrections.domain.conflicts.symbols import Loose, Symbol, Truth
from hgmem.rules.tree import Local, Node, walk

Bindings = dict[str, Symbol]
"""What loop variables stand for."""


class Notes:
    """Collects while a condition is encoded. ``number`` gives the same number for the same open question."""

    def __init__(self, number: Callable[[tuple[Any, ...]], int]) -> None:
        self._number = number
        self._used: dict[Place, None] = {}
        self.laws: list[Formula] = []
        self.reasons: dict[str, None] = {}
        self.unsure: list[Formula] = []
        self.sized: dict[Place, None] = {}

    @property
    def places(self) -> tuple[Place, ...]:
        """The places that are used, and those they lie in."""
        return tuple(dict.fromkeys(place for used in self._used for place in used.up()))

    def use(self, place: Place) -> None:
        """The condition looks at a place."""
        self._used[place] = None

    def use_items(self, owner: Symbol, other: Symbol) -> None:
        """The condition looks at the items that a comparison with a list literal needs."""
        counts = [len(part.value) for part in other if part.kind == LIST and isinstance(part.value, tuple)]
        for part in owner:
            if part.kind == LIST and isinstance(part.value, Place):
                for at in range(max(counts, default=0)):
                    self.use(part.value.child(at))

    def left_open(self, node: Node, local: Bindings, reason: str) -> Truth:
        """An open answer: true, false or an error; the same for the same node."""
        self.reasons[reason] = None
        name = f"open{self._number((node, *_bound(node, local)))}"
        yes, no = z3.Bool(f"{name}#true"), z3.Bool(f"{name}#false")
        self.laws.append(z3.Not(z3.And(yes, no)))
        return yes, no

    def loose(self, args: tuple[Node, ...], local: Bindings) -> Loose:
        """Formulas for the parts of a comparison that are left open."""
        count = 0

        def loose(reason: str) -> Formula:
            nonlocal count
            count += 1
            self.reasons[reason] = None
            bound = tuple(key for arg in args for key in _bound(arg, local))
            return z3.Bool(f"loose{self._number((args, bound, count))}")

        return loose


def _bound(node: Node, local: Bindings) -> tuple[Any, ...]:
    """What the loop variables in a node stand for, as a key."""
    names = sorted({part.name for part in walk(node) if isinstance(part, Local) and part.name in local})
    return tuple((name, local[name]) for name in names)
