"""Formulas that are z3 terms or plain ``True`` / ``False``: what is certain never reaches the solver."""

from collections.abc import Iterable
from typing import Any

import z3

Formula = Any
"""A ``z3.BoolRef``, or a Python bool."""


def all_of(parts: Iterable[Formula]) -> Formula:
    """The conjunction."""
    kept = []
    for part in parts:
        if part is False:
            return False
        if part is not True:
            kept.append(part)
    if not kept:
        return True
    return kept[0] if len(kept) == 1 else z3.And(kept)


def any_of(parts: Iterable[Formula]) -> Formula:
    """The disjunction."""
    kept = []
    for part in parts:
        if part is True:
            return True
        if part is not False:
            kept.append(part)
    if not kept:
        return False
    return kept[0] if len(kept) == 1 else z3.Or(kept)


def both(left: Formula, right: Formula) -> Formula:
    """``left`` and ``right``."""
    return all_of((left, right))


def neg(part: Formula) -> Formula:
    """The negation."""
    return not part if isinstance(part, bool) else z3.Not(part)


def implies(left: Formula, right: Formula) -> Formula:
    """``right`` wherever ``left``."""
    return any_of((neg(left), right))
