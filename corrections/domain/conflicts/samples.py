"""A text in which a pattern is found: a guess without a solver."""

import re
import warnings
from functools import lru_cache
from typing import Any, Final

_PARSER: Final = getattr(re, "_parser")  # noqa: B009 (private, but documented as sre_parse before 3.11)
_MAX_REPEAT: Final = 100


@lru_cache(maxsize=1_000)
def sample_of(pattern: str) -> str:
    """A text that probably fits; "" when there is none at hand."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _sequence(_PARSER.parse(pattern))
    except (re.error, OverflowError, RecursionError, ValueError):
        return ""


def _sequence(tokens: Any) -> str:
    return "".join(_piece(str(operator), argument) for operator, argument in tokens)


def _piece(operator: str, argument: Any) -> str:  # noqa: PLR0911 (one return a kind)
    match operator:
        case "LITERAL":
            return chr(argument)
        case "NOT_LITERAL":
            return "a" if argument != ord("a") else "b"
        case "ANY":
            return "a"
        case "IN":
            return _member(argument)
        case "BRANCH":
            return _sequence(argument[1][0])
        case "SUBPATTERN":
            return _sequence(argument[3])
        case "MAX_REPEAT" | "MIN_REPEAT":
            return "".join([_sequence(argument[2])] * min(argument[0], _MAX_REPEAT))
    return ""


def _member(items: Any) -> str:
    """A character of a set: the first of a few that the set itself takes."""
    fits = re.compile(f"[{_source(items)}]", re.ASCII)
    fitting = [one for one in "a0A -_.,;x/b9" if fits.match(one)]
    return fitting[0] if fitting else ""


def _source(items: Any) -> str:
    parts = []
    for operator, argument in items:
        match str(operator):
            case "NEGATE":
                parts.append("^")
            case "LITERAL":
                parts.append(re.escape(chr(argument)))
            case "RANGE":
                parts.append("-".join(re.escape(chr(code)) for code in argument))
            case "CATEGORY":
                parts.append(_CATEGORIES.get(str(argument), ""))
    return "".join(parts)


_CATEGORIES: Final = {
    "CATEGORY_DIGIT": r"\d", "CATEGORY_NOT_DIGIT": r"\D", "CATEGORY_WORD": r"\w", "CATEGORY_NOT_WORD": r"\W",
    "CATEGORY_SPACE": r"\s", "CATEGORY_NOT_SPACE": r"\S",
}  # fmt: skip
