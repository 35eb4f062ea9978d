"""Sets of characters as ranges of code points, and how RE2 reads them."""

from typing import Any, Final

import z3

from corrections.domain.conflicts.texts import LARGEST_CHARACTER, UnsupportedError, literal, nothing

Ranges = tuple[tuple[int, int], ...]

WORD: Final[Ranges] = ((48, 57), (65, 90), (95, 95), (97, 122))
_CLASSES: Final[dict[str, Ranges]] = {
    "CATEGORY_DIGIT": ((48, 57),),
    "CATEGORY_WORD": WORD,
    "CATEGORY_SPACE": ((9, 10), (12, 13), (32, 32)),
}
_FOLDED: Final = {ord("k"): 0x212A, ord("s"): 0x17F}
"""Characters beyond ASCII that are an ASCII letter in another case: the Kelvin sign and the long s."""


def without(ranges: Ranges) -> Ranges:
    """All other characters."""
    result, at = [], 0
    for low, high in sorted(ranges):
        if low > at:
            result.append((at, low - 1))
        at = max(at, high + 1)
    return (*result, (at, LARGEST_CHARACTER)) if at <= LARGEST_CHARACTER else tuple(result)


OTHER: Final[Ranges] = without(WORD)


def common(one: Ranges, other: Ranges) -> Ranges:
    """Characters in both."""
    pairs = ((max(a, c), min(b, d)) for a, b in one for c, d in other)
    return tuple((low, high) for low, high in pairs if low <= high)


def ranges_of(token: Any, *, fold: bool) -> Ranges:
    """The characters that a token of ``re``'s parser stands for; ``fold``: in either case.

    Raises:
        UnsupportedError: it is no set of characters, or its cases are not known here.
    """
    operator, argument = str(token[0]), token[1]
    match operator:
        case "LITERAL":
            return _cased(((argument, argument),), fold)
        case "NOT_LITERAL":
            return without(_cased(((argument, argument),), fold))
        case "ANY":
            return without(((10, 10),))
        case "IN":
            return _set(argument, fold)
    raise UnsupportedError(f"{operator.lower()} inside a pattern")


def language_of(ranges: Ranges) -> Any:
    """The language of these characters, each alone.

    Raises:
        UnsupportedError: a character is beyond what the solver knows.
    """
    if any(high > LARGEST_CHARACTER for _, high in ranges):
        raise UnsupportedError("a rare character inside a pattern")
    parts = [_range(low, high) for low, high in ranges]
    if not parts:
        return nothing()
    return parts[0] if len(parts) == 1 else z3.Union(*parts)


def _range(low: int, high: int) -> Any:
    if low == high:
        return literal(chr(low))
    edges = (z3.StringVal(f"\\u{{{code:x}}}") for code in (low, high))
    return z3.Range(*edges)


def _set(items: Any, fold: bool) -> Ranges:
    ranges: list[tuple[int, int]] = []
    negated = False
    for operator, argument in items:
        match str(operator):
            case "NEGATE":
                negated = True
            case "LITERAL":
                ranges += _cased(((argument, argument),), fold)
            case "RANGE":
                ranges += _cased((argument,), fold)
            case "CATEGORY":
                ranges += _category(str(argument), fold)
            case other:
                raise UnsupportedError(f"{other.lower()} inside a pattern")
    return without(tuple(ranges)) if negated else tuple(ranges)


def _category(name: str, fold: bool) -> Ranges:
    positive = name.replace("_NOT_", "_")
    if positive not in _CLASSES:
        raise UnsupportedError(f"{name.lower()} inside a pattern")
    ranges = _cased(_CLASSES[positive], fold)
    return ranges if positive == name else without(ranges)


def _cased(ranges: Ranges, fold: bool) -> Ranges:
    """With the other case of every letter, as RE2 folds."""
    if not fold:
        return ranges
    if any(high > 127 for _, high in ranges):
        raise UnsupportedError("letters beyond ASCII in either case")
    letters = [code for low, high in ranges for code in range(low, high + 1) if chr(code).isalpha()]
    others = [(code ^ 32, code ^ 32) for code in letters]
    rare = [(_FOLDED[code | 32],) * 2 for code in letters if code | 32 in _FOLDED]
    return tuple(dict.fromkeys((*ranges, *others, *rare)))
