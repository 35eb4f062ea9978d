"""The part of RE2 that the solver can express, as a regular language.

Spec: https://github.com/google/re2/wiki/Syntax. A pattern is read with Python's parser, after
everything the two dialects disagree on has been refused.
"""

import re
import warnings
from functools import lru_cache
from typing import Any, Final

import z3

from corrections.domain.conflicts.boundaries import searched_with_boundaries
from corrections.domain.conflicts.characters import language_of, ranges_of, without
from corrections.domain.conflicts.texts import UnsupportedError, anything, joined, literal, nothing

_PARSER: Final = getattr(re, "_parser")  # noqa: B009 (private, but documented as sre_parse before 3.11)
_DIFFERENT: Final = re.compile(
    r"\\(?![bdwsDWS\\.+*?()|\[\]{}^$/:;,'\"#@&%!~<>= `-])"  # escapes that RE2 reads otherwise, or not at all
    r"|\[\[|\[:|\(\?(?!:)|\{,|[*+?}]\+|\[[^\]]*(?:\\[dwsDWS]-|-\\[dwsDWS])"
)
_MAX_REPEAT: Final = 100
_FOLD: Final = "(?i)"


@lru_cache(maxsize=1_000)
def searched(pattern: str) -> Any:
    """The language of all texts in which a pattern is found.

    Raises:
        UnsupportedError: the pattern uses more than the solver can express.
    """
    fold = pattern.startswith(_FOLD)
    tokens = _parsed(pattern.removeprefix(_FOLD))
    branches = [tokens]
    if len(tokens) == 1 and str(tokens[0][0]) == "BRANCH":
        branches = [list(branch) for branch in tokens[0][1][1]]
    if r"\b" in pattern:
        return _either([searched_with_boundaries(branch, fold=fold) for branch in branches])
    return _either([_anchored(branch, fold) for branch in branches])


def _parsed(pattern: str) -> list[Any]:
    if _DIFFERENT.search(pattern) or not pattern.isprintable():
        raise UnsupportedError(f"the pattern {pattern!r}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(_PARSER.parse(pattern, re.ASCII))
    except (re.error, OverflowError, RecursionError):
        raise UnsupportedError(f"the pattern {pattern!r}") from None


def _anchored(tokens: list[Any], fold: bool) -> Any:
    start = bool(tokens) and _is_anchor(tokens[0], "AT_BEGINNING")
    end = len(tokens) > start and _is_anchor(tokens[-1], "AT_END")
    middle = _sequence(tokens[start : len(tokens) - end], fold)
    return joined(*([] if start else [anything()]), middle, *([] if end else [anything()]))


def _is_anchor(token: Any, which: str) -> bool:
    return str(token[0]) == "AT" and str(token[1]) == which


def _sequence(tokens: Any, fold: bool) -> Any:
    parts = [_piece(token, fold) for token in tokens]
    return joined(*parts) if parts else literal("")


def _piece(token: Any, fold: bool) -> Any:
    operator, argument = str(token[0]), token[1]
    match operator:
        case "BRANCH":
            return _either([_sequence(branch, fold) for branch in argument[1]])
        case "SUBPATTERN":
            return _sequence(argument[3], fold)
        case "MAX_REPEAT" | "MIN_REPEAT":
            low, high, body = argument
            return _repeat(low, high, _sequence(body, fold))
    return language_of(ranges_of(token, fold=fold))


def _repeat(low: int, high: Any, inner: Any) -> Any:
    open_ended = str(high) == "MAXREPEAT"
    if low > _MAX_REPEAT or (not open_ended and high > _MAX_REPEAT):
        raise UnsupportedError("a long repeat inside a pattern")
    if open_ended:
        return z3.Star(inner) if low == 0 else joined(z3.Loop(inner, low, low), z3.Star(inner))
    if high == 0:
        return literal("")
    return z3.Option(inner) if (low, high) == (0, 1) else z3.Loop(inner, low, int(high))


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
        anything()
        if character == "*"
        else language_of(without(()))
        if character == "?"
        else literal(character)
        for character in glob
    ]
    return joined(*parts) if parts else literal("")
