"""The part of RE2 that the solver can express, as a regular language.

Spec: https://github.com/google/re2/wiki/Syntax. A pattern is read with Python's parser, after
everything the two dialects disagree on has been refused.
"""

import re
import warnings
from functools import lru_cache
from typing import Any, Final

import z3

from corrections.domain.conflicts.texts import (
    LARGEST_CHARACTER,
    UnsupportedError,
    anything,
    joined,
    literal,
    nothing,
)

_PARSER: Final = getattr(re, "_parser")  # noqa: B009 (private, but documented as sre_parse before 3.11)
_DIFFERENT: Final = re.compile(
    r"\\(?![dwsDWS\\.+*?()|\[\]{}^$/:;,'\"#@&%!~<>= `-])"  # escapes that RE2 reads otherwise, or not at all
    r"|\[\[|\[:|\(\?(?!:)|\{,|[*+?}]\+|\[[^\]]*(?:\\[dwsDWS]-|-\\[dwsDWS])"
)
_MAX_REPEAT: Final = 100
_CLASSES: Final = {
    "CATEGORY_DIGIT": ((48, 57),),
    "CATEGORY_WORD": ((48, 57), (65, 90), (95, 95), (97, 122)),
    "CATEGORY_SPACE": ((9, 10), (12, 13), (32, 32)),
}


@lru_cache(maxsize=1_000)
def searched(pattern: str) -> Any:
    """The language of all texts in which a pattern is found.

    Raises:
        UnsupportedError: the pattern uses more than the solver can express.
    """
    if _DIFFERENT.search(pattern) or not pattern.isprintable():
        raise UnsupportedError(f"the pattern {pattern!r}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = _PARSER.parse(pattern, re.ASCII)
    except (re.error, OverflowError, RecursionError):
        raise UnsupportedError(f"the pattern {pattern!r}") from None
    tokens = list(tree)
    if len(tokens) == 1 and str(tokens[0][0]) == "BRANCH":
        return _either([_anchored(list(branch)) for branch in tokens[0][1][1]])
    return _anchored(tokens)


def _anchored(tokens: list[Any]) -> Any:
    start = bool(tokens) and _is_anchor(tokens[0], "AT_BEGINNING")
    end = len(tokens) > start and _is_anchor(tokens[-1], "AT_END")
    middle = tokens[start : len(tokens) - end]
    parts = [*([] if start else [anything()]), _sequence(middle), *([] if end else [anything()])]
    return joined(*parts)


def _is_anchor(token: Any, which: str) -> bool:
    return str(token[0]) == "AT" and str(token[1]) == which


def _sequence(tokens: Any) -> Any:
    parts = [_piece(str(operator), argument) for operator, argument in tokens]
    return joined(*parts) if parts else literal("")


def _piece(operator: str, argument: Any) -> Any:
    match operator:
        case "LITERAL":
            return literal(chr(argument))
        case "NOT_LITERAL":
            return _outside([(argument, argument)])
        case "ANY":
            return _outside([(10, 10)])
        case "IN":
            return _set(argument)
        case "BRANCH":
            return _either([_sequence(branch) for branch in argument[1]])
        case "SUBPATTERN":
            return _sequence(argument[3])
        case "MAX_REPEAT" | "MIN_REPEAT":
            return _repeat(*argument)
    raise UnsupportedError(f"{operator.lower()} inside a pattern")


def _repeat(low: int, high: Any, body: Any) -> Any:
    inner = _sequence(body)
    open_ended = str(high) == "MAXREPEAT"
    if low > _MAX_REPEAT or (not open_ended and high > _MAX_REPEAT):
        raise UnsupportedError("a long repeat inside a pattern")
    if open_ended:
        return (
            z3.Star(inner)
            if low == 0
            else z3.Plus(inner)
            if low == 1
            else joined(z3.Loop(inner, low, low), z3.Star(inner))
        )
    if high == 0:
        return literal("")
    return z3.Option(inner) if (low, high) == (0, 1) else z3.Loop(inner, low, int(high))


def _set(items: Any) -> Any:
    ranges: list[tuple[int, int]] = []
    negated = False
    for operator, argument in items:
        match str(operator):
            case "NEGATE":
                negated = True
            case "LITERAL":
                ranges.append((argument, argument))
            case "RANGE":
                ranges.append(argument)
            case "CATEGORY":
                ranges += _category(str(argument))
            case other:
                raise UnsupportedError(f"{other.lower()} inside a pattern")
    return _outside(ranges) if negated else _ranges(ranges)


def _category(name: str) -> list[tuple[int, int]]:
    negated = name.replace("_NOT_", "_")
    if negated not in _CLASSES:
        raise UnsupportedError(f"{name.lower()} inside a pattern")
    return list(_CLASSES[negated]) if negated == name else _complement(list(_CLASSES[negated]))


def _complement(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    result, at = [], 0
    for low, high in sorted(ranges):
        if low > at:
            result.append((at, low - 1))
        at = max(at, high + 1)
    return [*result, (at, LARGEST_CHARACTER)] if at <= LARGEST_CHARACTER else result


def _outside(ranges: list[tuple[int, int]]) -> Any:
    return _ranges(_complement(ranges))


def _ranges(ranges: list[tuple[int, int]]) -> Any:
    if any(high > LARGEST_CHARACTER for _, high in ranges):
        raise UnsupportedError("a rare character inside a pattern")
    return _either([_range(low, high) for low, high in ranges])


def _range(low: int, high: int) -> Any:
    if low == high:
        return literal(chr(low))
    edges = (z3.StringVal(f"\\u{{{code:x}}}") for code in (low, high))
    return z3.Range(*edges)


def _either(parts: list[Any]) -> Any:
    if not parts:
        return nothing()
    return parts[0] if len(parts) == 1 else z3.Union(*parts)


def glob_language(glob: str) -> Any:
    """The texts that fit a pattern with ``*`` and ``?``.

    Raises:
        UnsupportedError: it holds a character the solver does not know.
    """
    parts = [
        anything() if character == "*" else _outside([]) if character == "?" else literal(character)
        for character in glob
    ]
    return joined(*parts) if parts else literal("")
