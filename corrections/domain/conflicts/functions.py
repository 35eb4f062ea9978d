"""Functions of one value, and tests of two texts, over symbols."""

from collections.abc import Callable

import z3

from corrections.domain.conflicts.logic import Formula, any_of, both, neg
from corrections.domain.conflicts.places import ERROR, INT, LIST, MAP, TEXT, TYPE, TYPE_NAMES, Place
from corrections.domain.conflicts.symbols import Alternative, Symbol, Truth, gathered
from corrections.domain.conflicts.texts import AnyText, UnsupportedError, applied


def transformed(function: str, value: Symbol) -> Symbol:
    """``trim``, ``lowerAscii`` or ``upperAscii``; an error of anything that is no text."""
    return gathered(
        Alternative(part.when, TEXT, applied(function, part.value))
        if part.kind == TEXT
        else Alternative(part.when, ERROR)
        for part in value
    )


def over_texts(left: Symbol, right: Symbol, test: Callable[[AnyText, AnyText], Formula]) -> Truth:
    """A test of two texts; an error of anything else."""
    yes, no = [], []
    for a in left:
        for b in right:
            when = both(a.when, b.when)
            if a.kind == b.kind == TEXT and when is not False:
                holds = test(a.value, b.value)
                yes.append(both(when, holds))
                no.append(both(when, neg(holds)))
    return any_of(yes), any_of(no)


def size_of(part: Alternative) -> Alternative:
    """``size``: code points, items or entries.

    Raises:
        UnsupportedError: the text is trimmed.
    """
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


def type_of(part: Alternative) -> Alternative:
    """``type``.

    Raises:
        UnsupportedError: it is a time.
    """
    if part.kind == ERROR:
        return part
    if part.kind not in TYPE_NAMES:
        raise UnsupportedError("the type of a time")
    return Alternative(part.when, TYPE, TYPE_NAMES[part.kind])
