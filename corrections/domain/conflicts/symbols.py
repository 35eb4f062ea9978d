"""Values nobody knows yet: for each kind a value may have, when it has it and which value it is then."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import z3

from corrections.domain.conflicts.logic import Formula, all_of, any_of, both, neg
from corrections.domain.conflicts.places import (
    BOOL,
    DOUBLE,
    DURATION,
    ERROR,
    INT,
    LIST,
    MAP,
    MISSING,
    NAN,
    NULL,
    TEXT,
    TIME,
    UINT,
    Place,
)
from corrections.domain.conflicts.texts import Text, UnsupportedError, plain, text_test
from hgmem.rules.values import INT64_MAX, INT64_MIN

EXACT_INT = 2**53
"""Up to here every integer is a double."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """One kind a value may have: ``when``, and the value then.

    ``value``: a bool, int, Fraction, str or a term of that sort; a ``Place`` or a tuple of symbols for a list;
    a ``Place`` for a map; microseconds for a time or a duration; the name for a type.
    """

    when: Formula
    kind: int
    value: Any = None


Symbol = tuple[Alternative, ...]
Truth = tuple[Formula, Formula]
"""When a question is true, and when it is false; otherwise it is an error."""


def known(kind: int, value: Any = None) -> Symbol:
    """A value that is certain."""
    return (Alternative(True, kind, value),)


def gathered(alternatives: Iterable[Alternative]) -> Symbol:
    """A symbol; nulls and errors are merged, what is impossible is left out."""
    kept: list[Alternative] = []
    merged: dict[int, list[Formula]] = {}
    for part in alternatives:
        if part.when is False:
            continue
        if part.kind in (NULL, ERROR):
            merged.setdefault(part.kind, []).append(part.when)
        else:
            kept.append(part)
    return (*kept, *(Alternative(any_of(when), kind) for kind, when in merged.items()))


def contents(place: Place, when: Formula) -> list[Alternative]:
    """What a place holds, where it is there at all; a missing field is null."""
    found = []
    for kind in sorted(place.possible):
        holds = both(when, place.holds(kind))
        found.append(Alternative(holds, NULL if kind == MISSING else kind, _value(place, kind)))
    return found


def _value(place: Place, kind: int) -> Any:
    match kind:
        case 2:  # BOOL
            return place.flag
        case 3:  # INT
            return place.whole
        case 4:  # DOUBLE
            return place.real
        case 6:  # TEXT
            return Text(place.text)
        case 7 | 8:  # LIST, MAP
            return place
        case _:
            return None


def selected(owner: Symbol, field: str) -> Symbol:
    """A field of a value: null of null, an error of anything that has no fields."""
    found: list[Alternative] = []
    for part in owner:
        if part.kind == MAP:
            found += contents(part.value.child(field), part.when)
        else:
            found.append(Alternative(part.when, NULL if part.kind == NULL else ERROR))
    return gathered(found)


def present(owner: Symbol, field: str) -> Truth:
    """``has(owner.field)``."""
    there, missing = [], []
    for part in owner:
        if part.kind == MAP:
            absent = part.value.child(field).holds(MISSING)
            there.append(both(part.when, neg(absent)))
            missing.append(both(part.when, absent))
        elif part.kind == NULL:
            missing.append(part.when)
    return any_of(there), any_of(missing)


def item(owner: Symbol, at: int) -> Symbol:
    """``owner[at]`` of a list."""
    found: list[Alternative] = []
    for part in owner:
        if part.kind == LIST and isinstance(part.value, Place) and at >= 0:
            inside = part.value.length > at
            found += contents(part.value.child(at), both(part.when, inside))
            found.append(Alternative(both(part.when, neg(inside)), ERROR))
        elif part.kind == LIST and isinstance(part.value, tuple) and 0 <= at < len(part.value):
            found += [Alternative(both(part.when, one.when), one.kind, one.value) for one in part.value[at]]
        else:
            found.append(Alternative(part.when, ERROR))
    return gathered(found)


def truth_of(symbol: Symbol) -> Truth:
    """A value where a yes or no is wanted."""
    yes = [both(part.when, part.value) for part in symbol if part.kind == BOOL]
    no = [both(part.when, neg(part.value)) for part in symbol if part.kind == BOOL]
    return any_of(yes), any_of(no)


def from_truth(truth: Truth) -> Symbol:
    """A yes or no as a value."""
    yes, no = truth
    decided = any_of((yes, no))
    return gathered((Alternative(decided, BOOL, yes), Alternative(neg(decided), ERROR)))


Loose = Callable[[str], Formula]
"""Gives a formula that may be anything, for a reason."""


def equality(left: Symbol, right: Symbol, loose: Loose) -> Truth:
    """CEL equality: types never mix, numbers compare across their types."""
    pairs = [(both(a.when, b.when), a, b) for a in left for b in right]
    fails = any_of(when for when, a, b in pairs if ERROR in (a.kind, b.kind))
    same = any_of(both(when, _equal(a, b, loose)) for when, a, b in pairs if ERROR not in (a.kind, b.kind))
    return same, all_of((neg(same), neg(fails)))


def _equal(a: Alternative, b: Alternative, loose: Loose) -> Formula:
    if NAN in (a.kind, b.kind):
        return False
    if a.kind in _NUMBERS and b.kind in _NUMBERS:
        return _numeric("_==_", a, b, loose)
    if a.kind != b.kind:
        return False
    if a.kind == NULL:
        return True
    if a.kind == TEXT:
        return text_test("_==_", a.value, b.value)
    if a.kind in (LIST, MAP):
        return _equal_containers(a, b, loose)
    return a.value == b.value


def _equal_containers(a: Alternative, b: Alternative, loose: Loose) -> Formula:
    if isinstance(b.value, tuple) and not isinstance(a.value, tuple):
        a, b = b, a
    if not isinstance(a.value, tuple):
        return True if a.value is b.value else loose("two lists or objects compared as a whole")
    if isinstance(b.value, tuple):
        same_length: Formula = len(a.value) == len(b.value)
        others: list[Symbol] = list(b.value)
    else:
        same_length = b.value.length == len(a.value)
        others = [gathered(contents(b.value.child(at), True)) for at in range(len(a.value))]
    if same_length is False:
        return False
    pairs = zip(a.value, others, strict=False)
    return all_of((same_length, *(equality(one, other, loose)[0] for one, other in pairs)))


_NUMBERS = frozenset((INT, DOUBLE, UINT))
_ORDERED = frozenset((TEXT, BOOL, TIME, DURATION))
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "_<_": lambda a, b: a < b,
    "_<=_": lambda a, b: a <= b,
    "_>_": lambda a, b: a > b,
    "_>=_": lambda a, b: a >= b,
    "_==_": lambda a, b: a == b,
}


def ordering(function: str, left: Symbol, right: Symbol, loose: Loose) -> Truth:
    """``<``, ``<=``, ``>`` or ``>=`` over numbers, texts, bools, times and durations."""
    yes, no = [], []
    for a in left:
        for b in right:
            when = both(a.when, b.when)
            holds = _ordered(function, a, b, loose)
            if holds is not None and when is not False:
                yes.append(both(when, holds))
                no.append(both(when, neg(holds)))
    return any_of(yes), any_of(no)


def _ordered(function: str, a: Alternative, b: Alternative, loose: Loose) -> Formula | None:
    numbers = _NUMBERS | {NAN}
    if a.kind in numbers and b.kind in numbers:
        return False if NAN in (a.kind, b.kind) else _numeric(function, a, b, loose)
    if a.kind != b.kind or a.kind not in _ORDERED:
        return None
    if a.kind == BOOL:
        a, b = (Alternative(True, INT, _as_int(part.value)) for part in (a, b))
    if a.kind == TEXT:
        return _text_order(function, a.value, b.value)
    return _COMPARE[function](a.value, b.value)


def _as_int(flag: Any) -> Any:
    return int(flag) if isinstance(flag, bool) else z3.If(flag, z3.IntVal(1), z3.IntVal(0))


def _text_order(function: str, a: Any, b: Any) -> Formula:
    if isinstance(a, str) and isinstance(b, str):
        return _COMPARE[function](a, b)
    for part in (a, b):
        if isinstance(part, Text) and part.done:
            raise UnsupportedError(f"{part.done[-1]}() compared by order")
    return _COMPARE[function](plain(a), plain(b))


def _numeric(function: str, a: Alternative, b: Alternative, loose: Loose) -> Formula:
    """An int meets a double as a double: exactly up to 2**53, beyond that rounded."""
    if {a.kind, b.kind} <= {INT, UINT} or a.kind == b.kind:
        return _COMPARE[function](_term(a.value), _term(b.value))
    exact = _COMPARE[function](_real(a), _real(b))
    for part, other in ((a, b), (b, a)):
        if part.kind == DOUBLE or not z3.is_expr(part.value):
            continue
        if not z3.is_expr(other.value) and abs(other.value) <= EXACT_INT:
            continue
        large = z3.Or(part.value > EXACT_INT, part.value < -EXACT_INT)
        return z3.If(large, loose("a large integer compared with a double"), exact)
    return exact


def _term(value: Any) -> Any:
    return z3.RealVal(value) if isinstance(value, Fraction) else value


def _real(part: Alternative) -> Any:
    value = part.value
    if z3.is_expr(value):
        return value if part.kind == DOUBLE else z3.ToReal(value)
    return z3.RealVal(Fraction(float(value)))


def arithmetic(function: str, left: Symbol, right: Symbol) -> Symbol:
    """``+``, ``-`` and ``*`` over integers (an error beyond 64 bits), ``+`` over texts.

    Raises:
        UnsupportedError: doubles, lists or times may be involved, or two unknown numbers are multiplied.
    """
    found = []
    for a in left:
        for b in right:
            when = both(a.when, b.when)
            if when is False:
                continue
            found += _computed(function, a, b, when)
    return gathered(found)


_SUMS: dict[str, Callable[[Any, Any], Any]] = {
    "_+_": lambda a, b: a + b,
    "_-_": lambda a, b: a - b,
    "_*_": lambda a, b: a * b,
}


def _computed(function: str, a: Alternative, b: Alternative, when: Formula) -> list[Alternative]:
    if a.kind == b.kind == INT:
        if function == "_*_" and z3.is_expr(a.value) and z3.is_expr(b.value):
            raise UnsupportedError("two unknown numbers multiplied")
        value = _SUMS[function](a.value, b.value)
        fits = (
            z3.And(value >= INT64_MIN, value <= INT64_MAX)
            if z3.is_expr(value)
            else (INT64_MIN <= value <= INT64_MAX)
        )
        return [Alternative(both(when, fits), INT, value), Alternative(both(when, neg(fits)), ERROR)]
    if a.kind == b.kind == TEXT and function == "_+_":
        if isinstance(a.value, str) and isinstance(b.value, str):
            return [Alternative(when, TEXT, a.value + b.value)]
        return [Alternative(when, TEXT, Text(z3.Concat(plain(a.value), plain(b.value))))]
    if {a.kind, b.kind} & {TIME, DURATION, UINT} or (a.kind == b.kind == LIST and function == "_+_"):
        raise UnsupportedError("arithmetic on lists or times")
    if {a.kind, b.kind} <= {DOUBLE, NAN}:
        raise UnsupportedError("arithmetic on doubles")
    return [Alternative(when, ERROR)]
