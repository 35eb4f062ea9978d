"""Literals of conditions as symbols."""

import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import isfinite

from corrections.domain.conflicts.places import BOOL, DOUBLE, DURATION, INT, NULL, TEXT, TIME, TYPE, UINT
from corrections.domain.conflicts.symbols import Symbol, known
from corrections.domain.conflicts.texts import UnsupportedError
from hgmem.rules.tree import Const

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CONSTANTS = {"null": NULL, "bool": BOOL, "int": INT, "uint": UINT, "string": TEXT, "type": TYPE}


def constant_of(node: Const) -> Symbol:
    """A literal.

    Raises:
        UnsupportedError: the solver has no such type.
    """
    if node.kind == "double":
        if not isfinite(node.value):
            raise UnsupportedError("a number that is not finite")
        return known(DOUBLE, Fraction(node.value))
    if node.kind not in _CONSTANTS:
        raise UnsupportedError(f"a literal of type {node.kind}")
    return known(_CONSTANTS[node.kind], node.value)


_UNITS = {"h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}


def moment_of(function: str, text: str) -> Symbol:
    """``timestamp(text)`` or ``duration(text)`` in microseconds.

    Raises:
        UnsupportedError: the text is none that is understood.
    """
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
