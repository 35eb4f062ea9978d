"""A condition as formulas: when it is true, and when it is false (otherwise it is an error).

CEL's logic is three-valued and absorbing: ``false && error`` is false, ``true || error`` is true. What the
solver has no word for is left *open*: it may be anything, the same in every condition that says the same. So a
proof that nothing satisfies the formulas holds for the real conditions too, while an example has to be
confirmed by the real evaluator.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import isfinite
from typing import Any

import z3

from corrections.domain.conflicts import symbols
from corrections.domain.conflicts.logic import Formula, all_of, any_of, both, implies, neg
from corrections.domain.conflicts.patterns import searched
from corrections.domain.conflicts.places import (
    BOOL,
    DOUBLE,
    DURATION,
    ERROR,
    INT,
    ITEMS,
    LIST,
    MAP,
    NULL,
    TEXT,
    TIME,
    TYPE,
    TYPE_NAMES,
    UINT,
    Place,
)
from corrections.domain.conflicts.symbols import Alternative, Symbol, Truth, gathered, known
from corrections.domain.conflicts.texts import UnsupportedError, applied, in_language, text_test
from hgmem.rules.conditions import Condition
from hgmem.rules.tree import Call, Const, Has, ListOf, Local, Loop, Node, Read, Select, walk

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CONSTANTS = {"null": NULL, "bool": BOOL, "int": INT, "uint": UINT, "string": TEXT, "type": TYPE}
_LOGIC = frozenset(("_&&_", "_||_", "!_", "_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "@in"))
_TEXT_TESTS = frozenset(("startsWith", "endsWith", "contains"))
_TEXT_FUNCTIONS = frozenset(("trim", "lowerAscii", "upperAscii"))


@dataclass(frozen=True)
class Encoded:
    """A condition in the solver's words. ``open`` says what was left open."""

    true: Formula
    false: Formula
    places: tuple[Place, ...]
    laws: tuple[Formula, ...]
    open: tuple[str, ...]
    unsure: tuple[Formula, ...] = ()
    """Where what was left open matters; a good example keeps away from it."""


class Encoder:
    """Encodes conditions over one shared vocabulary of places; one for each solver process."""

    def __init__(self) -> None:
        self.roots: dict[str, Place] = {}
        self._now = z3.Int("now")
        self._open: dict[tuple[Any, ...], int] = {}
        self._encoded: dict[str, Encoded] = {}

    @property
    def now(self) -> Any:
        """The moment of the decision, in microseconds since 1970."""
        return self._now

    def condition(self, source: str) -> Encoded:
        """A condition, encoded once."""
        if source not in self._encoded:
            tree = Condition.compile(source).tree
            self._encoded[source] = _Encoding(self).encode(tree)
        return self._encoded[source]

    def place(self, path: tuple[str | int, ...]) -> Place:
        """The place of a path."""
        root = str(path[0])
        if root not in self.roots:
            self.roots[root] = Place((root,))
        place = self.roots[root]
        for step in path[1:]:
            place = place.child(step)
        return place

    def number(self, key: tuple[Any, ...]) -> int:
        """The same number for the same open question."""
        return self._open.setdefault(key, len(self._open))


class _Encoding:
    """One condition on its way into formulas."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._laws: list[Formula] = []
        self._reasons: dict[str, None] = {}
        self._unsure: list[Formula] = []
        self._values: dict[Node, Symbol | None] = {}
        self._used: dict[Place, None] = {}

    def encode(self, tree: Node) -> Encoded:
        true, false = self.truth(tree, {})
        places: dict[Place, None] = {}
        for place in self._used:
            places.update(dict.fromkeys(place.up()))
        return Encoded(
            true, false, tuple(places), tuple(self._laws), tuple(self._reasons), tuple(self._unsure)
        )

    # --- yes or no ------------------------------------------------------------------------------

    def truth(self, node: Node, local: dict[str, Symbol]) -> Truth:
        """When a node is true and when it is false."""
        try:
            return self._truth(node, local)
        except UnsupportedError as fault:
            return self._left_open(node, local, str(fault))

    def _truth(self, node: Node, local: dict[str, Symbol]) -> Truth:
        match node:
            case Call(function="_&&_", args=args):
                parts = [self.truth(part, local) for part in args]
                return all_of(yes for yes, _ in parts), any_of(no for _, no in parts)
            case Call(function="_||_", args=args):
                parts = [self.truth(part, local) for part in args]
                return any_of(yes for yes, _ in parts), all_of(no for _, no in parts)
            case Call(function="!_", args=(part,)):
                yes, no = self.truth(part, local)
                return no, yes
            case Call(function="_?_:_", args=(test, then, otherwise)):
                return self._choice(test, then, otherwise, local)
            case Call(function="@not_strictly_false", args=(part,)):
                _, no = self.truth(part, local)
                return neg(no), no
            case Has(root=root, path=path):
                owner = self._read(root, path[:-1])
                return self._present(owner, path[-1])
            case Select(operand=operand, field=field, test=True):
                return self._present(self.value(operand, local), field)
            case Loop(kind="all" | "exists"):
                return self._loop(node, local)
            case Call(function=function, args=args):
                found = self._tested(function, args, local)
                return found if found is not None else symbols.truth_of(self.value(node, local))
            case _:
                return symbols.truth_of(self.value(node, local))

    def _choice(self, test: Node, then: Node, otherwise: Node, local: dict[str, Symbol]) -> Truth:
        yes, no = self.truth(test, local)
        first, second = self.truth(then, local), self.truth(otherwise, local)
        return (
            any_of((both(yes, first[0]), both(no, second[0]))),
            any_of((both(yes, first[1]), both(no, second[1]))),
        )

    def _tested(self, function: str, args: tuple[Node, ...], local: dict[str, Symbol]) -> Truth | None:
        """A comparison, or None when the function is no test."""
        if len(args) != 2:
            return None
        if function in ("_==_", "_!=_"):
            left, right = self._both(args, local)
            self._use_items(left, right)
            self._use_items(right, left)
            yes, no = symbols.equality(left, right, self._loose(args, local))
            return (yes, no) if function == "_==_" else (no, yes)
        if function in ("_<_", "_<=_", "_>_", "_>=_"):
            return symbols.ordering(function, *self._both(args, local), self._loose(args, local))
        if function == "@in":
            return self._membership(*args, local)
        if function in _TEXT_TESTS:
            return _over_texts(*self._both(args, local), lambda a, b: text_test(function, a, b))
        if function == "matches" and isinstance(args[1], Const):
            language = searched(args[1].value)
            pattern = known(TEXT, "")
            return _over_texts(self.value(args[0], local), pattern, lambda a, _: in_language(a, language))
        return None

    def _both(self, args: tuple[Node, ...], local: dict[str, Symbol]) -> tuple[Symbol, Symbol]:
        return self.value(args[0], local), self.value(args[1], local)

    def _membership(self, wanted: Node, container: Node, local: dict[str, Symbol]) -> Truth:
        item, owner = self.value(wanted, local), self.value(container, local)
        loose = self._loose((wanted, container), local)
        yes, no = [], []
        for part in owner:
            if part.kind == LIST:
                found, missing = self._among(item, part.value, loose)
            elif part.kind == MAP:
                found, missing = self._key_of(item, part.value)
            else:
                continue
            yes.append(both(part.when, found))
            no.append(both(part.when, missing))
        return any_of(yes), any_of(no)

    def _among(self, item: Symbol, items: Any, loose: symbols.Loose) -> Truth:
        fails = any_of(part.when for part in item if part.kind == ERROR)
        found: list[Formula] = []
        for inside, one in self._items(items):
            same, _ = symbols.equality(item, one, loose)
            found.append(both(inside, same))
        if isinstance(items, Place):
            found.append(both(items.length > ITEMS, loose(f"lists of more than {ITEMS} items")))
        yes = both(any_of(found), neg(fails))
        return yes, both(neg(yes), neg(fails))

    def _key_of(self, item: Symbol, owner: Place) -> Truth:
        yes, no = [], []
        for part in item:
            if part.kind == TEXT:
                if not isinstance(part.value, str):
                    raise UnsupportedError("a computed key looked up in an object")
                there, missing = symbols.present(known(MAP, owner), part.value)
                self._use(owner.child(part.value))
                yes.append(both(part.when, there))
                no.append(both(part.when, missing))
            elif part.kind in (BOOL, INT, DOUBLE, UINT):
                no.append(part.when)
        return any_of(yes), any_of(no)

    def _present(self, owner: Symbol, field: str) -> Truth:
        for part in owner:
            if part.kind == MAP:
                self._use(part.value.child(field))
        return symbols.present(owner, field)

    def _loop(self, node: Loop, local: dict[str, Symbol]) -> Truth:
        """``exists`` and ``all``: one absorbing item beats any error."""
        over = self.value(node.over, local)
        yes, no = [], []
        for part in over:
            if part.kind == LIST:
                some, every_not = self._loop_over(part.value, node, local)
                yes.append(both(part.when, some))
                no.append(both(part.when, every_not))
            elif part.kind == MAP:
                some, every_not = self._left_open(node, local, "a loop over the keys of an object")
                self._unsure.append(part.when)
                yes.append(both(part.when, some))
                no.append(both(part.when, every_not))
        return (any_of(yes), any_of(no)) if node.kind == "exists" else (any_of(no), any_of(yes))

    def _loop_over(self, items: Any, node: Loop, local: dict[str, Symbol]) -> Truth:
        """For ``exists``: some item is true, every item is false. For ``all`` the two sides change places."""
        absorbed: list[Formula] = []
        passed: list[Formula] = []
        for inside, one in self._items(items):
            holds, fails = self.truth(node.body, {**local, node.var: one})
            if node.kind == "all":
                holds, fails = fails, holds
            absorbed.append(both(inside, holds))
            passed.append(implies(inside, fails))
        if isinstance(items, Place):
            more = items.length > ITEMS
            some, none = self._left_open(node, local, f"lists of more than {ITEMS} items")
            absorbed.append(both(more, some))
            passed.append(implies(more, none))
        return any_of(absorbed), all_of(passed)

    def _items(self, items: Any) -> list[tuple[Formula, Symbol]]:
        if not isinstance(items, Place):
            return [(True, one) for one in items]
        found = []
        for at in range(ITEMS):
            place = items.child(at)
            self._use(place)
            found.append((items.length > at, gathered(symbols.contents(place, True))))
        return found

    # --- values ---------------------------------------------------------------------------------

    def value(self, node: Node, local: dict[str, Symbol]) -> Symbol:
        """What a node may be.

        Raises:
            UnsupportedError: the solver has no word for it.
        """
        match node:
            case Const():
                return _constant(node)
            case Read(root="now", path=()):
                return known(TIME, self._encoder.now)
            case Read(root=root, path=path):
                return self._read(root, path)
            case Local(name=name) if name in local:
                return local[name]
            case Select(operand=operand, field=field, test=False):
                return self._selected(self.value(operand, local), field)
            case ListOf(items=items):
                return self._list([self.value(one, local) for one in items])
            case Call(function=function, args=args):
                return self._computed(node, function, args, local)
            case Has() | Select() | Loop(kind="all" | "exists"):
                return symbols.from_truth(self.truth(node, local))
        raise UnsupportedError("a loop that builds a list" if isinstance(node, Loop) else "an object literal")

    def _computed(
        self, node: Node, function: str, args: tuple[Node, ...], local: dict[str, Symbol]
    ) -> Symbol:
        if function in _LOGIC or function in _TEXT_TESTS or function == "matches":
            return symbols.from_truth(self.truth(node, local))
        if function == "_?_:_":
            return self._chosen(args, local)
        if function == "_[_]" and isinstance(args[1], Const) and args[1].kind == "int":
            return self._item(self.value(args[0], local), args[1].value)
        if function in ("_+_", "_-_", "_*_") and len(args) == 2:
            return symbols.arithmetic(function, *self._both(args, local))
        if function == "-_" and isinstance(args[0], Const) and args[0].kind in ("int", "double"):
            return _constant(Const(-args[0].value, args[0].kind))
        if len(args) == 1:
            return self._of_one(function, args[0], local)
        raise UnsupportedError(f"{function}()")

    def _of_one(self, function: str, arg: Node, local: dict[str, Symbol]) -> Symbol:
        if function in ("timestamp", "duration") and isinstance(arg, Const) and arg.kind == "string":
            return _moment(function, arg.value)
        value = self.value(arg, local)
        if function in _TEXT_FUNCTIONS:
            parts = (
                Alternative(part.when, TEXT, applied(function, part.value))
                if part.kind == TEXT
                else Alternative(part.when, ERROR)
                for part in value
            )
            return gathered(parts)
        if function == "size":
            return gathered(map(_size, value))
        if function == "type":
            return gathered(map(_type, value))
        if function == "dyn":
            return value
        raise UnsupportedError(f"{function}()")

    def _chosen(self, args: tuple[Node, ...], local: dict[str, Symbol]) -> Symbol:
        yes, no = self.truth(args[0], local)
        found = [Alternative(both(yes, p.when), p.kind, p.value) for p in self.value(args[1], local)]
        found += [Alternative(both(no, p.when), p.kind, p.value) for p in self.value(args[2], local)]
        return gathered((*found, Alternative(neg(any_of((yes, no))), ERROR)))

    def _read(self, root: str, path: tuple[str, ...]) -> Symbol:
        node = Read(root, path)
        found = self._values.get(node)
        if found is None:
            if path:
                found = self._selected(self._read(root, path[:-1]), path[-1])
            else:
                place = self._encoder.place((root,))
                self._use(place)
                found = gathered(symbols.contents(place, True))
            self._values[node] = found
        return found

    def _selected(self, owner: Symbol, field: str) -> Symbol:
        for part in owner:
            if part.kind == MAP:
                self._use(part.value.child(field))
        return symbols.selected(owner, field)

    def _item(self, owner: Symbol, at: int) -> Symbol:
        for part in owner:
            if part.kind == LIST and isinstance(part.value, Place) and at >= 0:
                if at >= ITEMS:
                    raise UnsupportedError(f"item {at} of a list")
                self._use(part.value.child(at))
        return symbols.item(owner, at)

    @staticmethod
    def _list(items: list[Symbol]) -> Symbol:
        """A list literal fails as soon as one of its items does."""
        fails = any_of(part.when for one in items for part in one if part.kind == ERROR)
        return gathered((Alternative(neg(fails), LIST, tuple(items)), Alternative(fails, ERROR)))

    # --- what is left open ------------------------------------------------------------------------

    def _use(self, place: Place) -> None:
        self._used[place] = None

    def _use_items(self, owner: Symbol, other: Symbol) -> None:
        """The items that a comparison with a list literal looks at."""
        counts = [len(part.value) for part in other if part.kind == LIST and isinstance(part.value, tuple)]
        for part in owner:
            if part.kind == LIST and isinstance(part.value, Place):
                for at in range(max(counts, default=0)):
                    self._use(part.value.child(at))

    def _left_open(self, node: Node, local: dict[str, Symbol], reason: str) -> Truth:
        """An open answer: true, false or an error."""
        self._reasons[reason] = None
        for part in walk(node):
            if isinstance(part, Read) and part.root != "now":
                self._touch(part)
        name = f"open{self._encoder.number((node, *_bound(node, local)))}"
        yes, no = z3.Bool(f"{name}#true"), z3.Bool(f"{name}#false")
        self._laws.append(z3.Not(z3.And(yes, no)))
        return yes, no

    def _touch(self, read: Read) -> None:
        self._read(read.root, read.path)

    def _loose(self, args: tuple[Node, ...], local: dict[str, Symbol]) -> symbols.Loose:
        """Formulas for a part of a comparison that is left open."""
        count = 0

        def loose(reason: str) -> Formula:
            nonlocal count
            count += 1
            self._reasons[reason] = None
            bound = tuple(key for arg in args for key in _bound(arg, local))
            return z3.Bool(f"loose{self._encoder.number((args, bound, count))}")

        return loose


def _bound(node: Node, local: dict[str, Symbol]) -> tuple[Any, ...]:
    """What the loop variables in a node stand for, as a key."""
    names = sorted({part.name for part in walk(node) if isinstance(part, Local) and part.name in local})
    return tuple((name, local[name]) for name in names)


def _over_texts(left: Symbol, right: Symbol, test: Any) -> Truth:
    yes, no = [], []
    for a in left:
        for b in right:
            when = both(a.when, b.when)
            if a.kind == b.kind == TEXT and when is not False:
                holds = test(a.value, b.value)
                yes.append(both(when, holds))
                no.append(both(when, neg(holds)))
    return any_of(yes), any_of(no)


def _size(part: Alternative) -> Alternative:
    if part.kind == TEXT:
        value = part.value
        if isinstance(value, str):
            return Alternative(part.when, INT, len(value))
        if any(function == "trim" for function in value.done):
            raise UnsupportedError("the size of a trimmed text")
        return Alternative(part.when, INT, z3.Length(value.term))
    if part.kind in (LIST, MAP):
        items = part.value
        return Alternative(part.when, INT, items.length if isinstance(items, Place) else len(items))
    return Alternative(part.when, ERROR)


def _type(part: Alternative) -> Alternative:
    if part.kind == ERROR:
        return part
    if part.kind not in TYPE_NAMES:
        raise UnsupportedError("the type of a time")
    return Alternative(part.when, TYPE, TYPE_NAMES[part.kind])


def _constant(node: Const) -> Symbol:
    if node.kind == "double":
        if not isfinite(node.value):
            raise UnsupportedError("a number that is not finite")
        return known(DOUBLE, Fraction(node.value))
    if node.kind not in _CONSTANTS:
        raise UnsupportedError(f"a literal of type {node.kind}")
    return known(_CONSTANTS[node.kind], node.value)


_UNITS = {"h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}


def _moment(function: str, text: str) -> Symbol:
    """A literal time or duration in microseconds."""
    if function == "timestamp":
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise UnsupportedError(f"the time {text!r}") from None
        if moment.tzinfo is None:
            raise UnsupportedError(f"the time {text!r}")
        return known(TIME, (moment - EPOCH) // timedelta(microseconds=1))
    parts = re.findall(r"(\d+)(h|ms|us|m|s)", text)
    if not parts or "".join(map("".join, parts)) != text:
        raise UnsupportedError(f"the duration {text!r}")
    return known(DURATION, sum(int(number) * _UNITS[unit] for number, unit in parts))
