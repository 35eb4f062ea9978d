"""How alike two values of an argument are built: a word never stands in for a sentence.

Only kind, length, words and signs are looked at; nothing here knows a language or a tool.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from memory.domain.rewriting.align_sources import MAX_TEXT

LEAST_LIKENESS = 0.35
"""Below that a value has another shape, and does not take the other's place."""
MAX_PLAIN_WORDS = 3
MAX_COMPARED = 100
MIN_REGULAR = 5
"""So many values of one length make that length a rule."""
USUALLY_COMPOSED = 0.25
_WORD = re.compile(r"\w+")
_OPERATOR = re.compile(r"[=<>*;(){}|]")


def likeness(one: Any, other: Any) -> float:
    """0 (another kind of value) to 1 (built in the same way, or equal)."""
    if one == other:
        return 1.0
    if _kind(one) != _kind(other):
        return 0.0
    if isinstance(one, str):
        return _of_texts(one[:MAX_TEXT], other[:MAX_TEXT])
    if isinstance(one, list | tuple) and one and other:
        return likeness(one[0], other[0])
    if isinstance(one, dict) and (one or other):
        return len(one.keys() & other.keys()) / len(one.keys() | other.keys())
    return 1.0


def likeness_of_params(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """That of the least alike argument which both have; 1 where they share none."""
    return min((likeness(one[name], other[name]) for name in one.keys() & other.keys()), default=1.0)


def fit(value: Any, known: Iterable[Any]) -> float:
    """How well a value fits in with the nearest of the known ones; 1 where none is known.

    0 where all known texts have one length (codes, identifiers) and this one has another.
    """
    compared = list(known)[-MAX_COMPARED:]
    texts = {other for other in compared if isinstance(other, str)}
    lengths = {len(text) for text in texts}
    if (
        isinstance(value, str)
        and len(texts) >= MIN_REGULAR
        and len(lengths) == 1
        and len(value) not in lengths
    ):
        return 0.0
    return max((likeness(value, other) for other in compared), default=1.0)


def is_usually_composed(known: Sequence[Any]) -> bool:
    """Whether an argument takes composed texts: a quarter of its known values are such."""
    return bool(known) and sum(map(is_composed, known)) >= USUALLY_COMPOSED * len(known)


def is_composed(value: Any) -> bool:
    """Whether a value is a text that somebody composed (a query, a message), not a name or a number."""
    return isinstance(value, str) and (
        len(value[:MAX_TEXT].split()) > MAX_PLAIN_WORDS or len(_OPERATOR.findall(value[:MAX_TEXT])) > 1
    )


def words_of(text: str) -> frozenset[str]:
    """The words of a text's first 2,000 characters, in lower case."""
    return _words(text[:MAX_TEXT])


@lru_cache(maxsize=4_096)
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _kind(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return type(value).__name__
    if isinstance(value, int | float):
        return "number"
    return "list" if isinstance(value, list | tuple) else type(value).__name__


def _of_texts(one: str, other: str) -> float:
    """1 for two plain texts; half the ratio of their lengths and half the words they share, for others.

    A composed text and a single word are never alike.
    """
    if not is_composed(one) and not is_composed(other):
        return 1.0
    short, long = sorted((len(one.split()), len(other.split())))
    if short <= 1 < long:
        return 0.0
    mine, theirs = words_of(one), words_of(other)
    shared = len(mine & theirs) / (min(len(mine), len(theirs)) or 1)
    return 0.5 * (short + 1) / (long + 1) + 0.5 * shared
