"""Finding texts by meaning and by letter: how the two are weighed. Pure.

A question's words count by how rare they are among the texts (inverse document frequency, Sparck Jones 1972),
so that "how do we" decides nothing. What holds every word, or the question itself, stands above all that is
merely near.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+(?:[_.][^\W_]+)*")
_HAN = re.compile(r"[\u3400-\u9fff]+")
MAX_WORDS = 16
FEW = 10
"""As if there were so many more texts without the word: among two texts none is common or rare."""
IN_TITLE, IN_TEXT, ALL_WORDS = 1.0, 0.95, 0.85
"""The least score of a text whose title holds the question, that holds it, that holds all its words."""
NEAR_BY_MEANING = 0.20
"""With a model's vectors, centred: unrelated texts lie below .15, paraphrases above .3."""
NEAR_BY_LETTERS = 0.20
"""With the built-in vectors, averaged with the share of words."""


@dataclass(frozen=True)
class Words:
    """A question, as it is looked for: in lower case, and its words (Han text in pairs of characters)."""

    whole: str
    words: tuple[str, ...]


def read_question(text: str) -> Words:
    """The words of a question, each once, at most ``MAX_WORDS``; the shortest only where all are."""
    whole = " ".join(text.casefold().split())
    found = dict.fromkeys(part for word in _WORD.findall(whole) for part in _parts(word))
    long = [word for word in found if len(word) > 2 or not word.isascii() or word.isdigit()]
    return Words(whole, tuple(long or found)[:MAX_WORDS])


def _parts(word: str) -> list[str]:
    han = _HAN.findall(word)
    if not han:
        return [word]
    rest = [part for part in _HAN.split(word) if len(part) > 1]
    return rest + [run[at : at + 2] for run in han for at in range(max(len(run) - 1, 1))]


def weigh_words(found: Sequence[int], texts: int) -> list[float]:
    """The weight of each word, of which ``found`` of ``texts`` hold: least where all do, most for a rare one.

    Squared, as both sides of a TF-IDF cosine carry it: among few texts even "the" is not frequent.
    """
    return [math.log(1 + (texts + FEW) / (1 + max(count, 1))) ** 2 for count in found]


def least_score(*, in_title: bool, in_text: bool, all_words: bool) -> float:
    """What a text scores at least for the letters it shares with the question."""
    if in_title:
        return IN_TITLE
    if in_text:
        return IN_TEXT
    return ALL_WORDS if all_words else 0.0
