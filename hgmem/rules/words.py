"""Replacing whole words of a text, and when two such edits can stand side by side."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Annotated, Final

from pydantic import Field

MAX_WORDS: Final = 20
MAX_WORD_CHARS: Final = 100

Word = Annotated[str, Field(max_length=MAX_WORD_CHARS, pattern=r"^\w+(\.\w+)*$")]
"""A word, or a dotted name: letters, digits and ``_``, with dots inside."""
NewWord = Annotated[str, Field(max_length=MAX_WORD_CHARS, pattern=r"^(\w+(\.\w+)*)?$")]
Name = tuple[str, ...]
"""A dotted name by its parts, in small letters."""
WordEdits = Mapping[str, tuple[frozenset[Name], frozenset[Name]]]
"""For each field the names that are replaced and those they are replaced by."""


def replace_words(text: str, words: Mapping[str, str]) -> str:
    """The text with each whole word of ``words`` (in any case) replaced; nothing is replaced twice."""
    news = {old.lower(): new for old, new in words.items()}
    return _pattern(tuple(news)).sub(lambda match: news.get(match[0].lower(), match[0]), text)


@lru_cache(maxsize=10_000)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """The longest word first, so that a dotted name goes before its parts."""
    longest = sorted(words, key=lambda word: (-len(word), word))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)", re.IGNORECASE)


def edits_of(fields: Iterable[tuple[str, Mapping[str, str]]]) -> WordEdits:
    """The word edits of an action, from the field and the words of each of its operations."""
    found: dict[str, tuple[frozenset[Name], frozenset[Name]]] = {}
    for field, words in fields:
        old, new = found.get(field, (frozenset(), frozenset()))
        found[field] = old | _names(words), new | _names(words.values())
    return found


def are_apart(some: WordEdits, others: WordEdits) -> bool:
    """Whether two actions replace different words, and neither touches what the other one puts in.

    They then give the same text in whatever order, so neither overwrites the other.
    """
    if not some or some.keys() != others.keys():
        return False
    for field, (old, new) in some.items():
        other_old, other_new = others[field]
        if _any_touch(old, other_old) or _any_touch(new, other_old) or _any_touch(old, other_new):
            return False
    return True


def _names(words: Iterable[str]) -> frozenset[Name]:
    return frozenset(tuple(word.lower().split(".")) for word in words if word)


def _any_touch(some: Iterable[Name], others: frozenset[Name]) -> bool:
    return any(_touch(one, other) for one in some for other in others)


def _touch(one: Name, other: Name) -> bool:
    """Whether two names can share a part of one text: laid over each other somewhere, they agree."""
    for shift in range(1 - len(other), len(one)):
        low, high = max(0, shift), min(len(one), shift + len(other))
        if one[low:high] == other[low - shift : high - shift]:
            return True
    return False
