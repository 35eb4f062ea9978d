"""Text as weighted, hashed character n-grams: no model, no dictionary, any language, always the same.

A word gives the 3- to 5-grams of itself between two spaces (fastText's subwords: Bojanowski et al. 2017,
without the learning), so "ordering" and "ordered" share most of theirs. A script that writes no spaces
gives single characters and pairs instead, as search engines do for Chinese. A gram that occurs c times
weighs 1 + ln c.
"""

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterator

BUCKETS = 1024
"""Grams of a stored path are numbers below this (CRC-32 modulo BUCKETS)."""

MAX_CHARACTERS = 4000
"""Of one text; what is beyond is not read."""

SHORTEST, LONGEST = 3, 5
MAX_WORD = 60

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# Scripts without spaces between words: Thai, Lao, Khmer, Burmese, kana, Chinese characters.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"[{_UNSPACED}]+|\d+|[^\W\d_{_UNSPACED}]+")


def words(text: str) -> list[str]:
    """The words of ``text`` in order, in lower case.

    ``snake_case`` and ``CamelCase`` are taken apart, digits stand alone, a run of Chinese characters is one
    word.
    """
    return _WORD.findall(_CAMEL.sub(" ", text[:MAX_CHARACTERS]).lower())


def grams(text: str) -> Iterator[str]:
    """The grams of ``text``, as often as they occur."""
    for word in words(text):
        if is_unspaced(word):
            yield from word
            yield from (word[i : i + 2] for i in range(len(word) - 1))
        else:
            yield from _subwords(f" {word[:MAX_WORD]} ")


def weigh(text: str) -> dict[str, float]:
    """Each gram of ``text`` with its weight, 1 + ln of how often it occurs."""
    return {gram: 1.0 + math.log(count) for gram, count in Counter(grams(text)).items()}


def bucket_weights(text: str) -> dict[int, float]:
    """Weights by bucket: what a stored path keeps of a text. Grams that collide count together."""
    counts = Counter(bucket(gram) for gram in grams(text))
    return {place: 1.0 + math.log(count) for place, count in counts.items()}


def bucket(gram: str) -> int:
    """The number of a gram, below ``BUCKETS``."""
    return zlib.crc32(gram.encode()) % BUCKETS


def is_unspaced(word: str) -> bool:
    """Whether a word (of :func:`words`) is of a script that writes no spaces."""
    return not word[0].isascii() and re.match(f"[{_UNSPACED}]", word[0]) is not None


def _subwords(word: str) -> Iterator[str]:
    for size in range(SHORTEST, LONGEST + 1):
        yield from (word[i : i + size] for i in range(len(word) - size + 1))
