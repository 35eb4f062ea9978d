"""Whether a general pattern has anything to do with a question: how much of the question it says itself.

Templates are few and general, so nothing can be predicted among them; what keeps a meaningless question from
being answered with all of them is that each must say some of the question's own words.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from memory.domain.locating.entries import PathEntry
from memory.domain.locating.grams import bucket, grams, is_unspaced, words

MIN_SAID = 0.15
"""Share of a question that a template must say."""

LETTERS = 4
"""Shorter words of scripts with spaces are not counted: nearly all of them are grammar."""

SAID = 0.65
"""Share of its grams from which a word counts as said, in whatever form: "cancel" and "cancelling"."""

GRAMMAR = frozenset({
    "about", "could", "does", "from", "have", "into", "need", "please", "should", "that", "their",
    "them", "then", "there", "they", "this", "want", "what", "when", "where", "which", "will", "with",
    "would", "your",
})  # fmt: skip


def share_said(question: str, entry: PathEntry, tags: Sequence[str]) -> float:
    """The share of the question's words, weighed by their grams, in goal, tags or steps of a path; 0 to 1."""
    goal = set(np.frombuffer(entry.goal.buckets, dtype="<u2").tolist())
    texts = (*tags, *(name for names in entry.steps for name in names))
    said = f" {' '.join(word for text in texts for word in words(text))} "  # a gram is a piece of " word "
    told = total = 0
    for parts, needed in _counted(question):
        total += len(parts)
        known = sum(gram in said or bucket(gram) in goal for gram in parts)
        told += len(parts) if known >= needed else 0
    return told / total if total else 0.0


def _counted(question: str) -> Iterator[tuple[list[str], float]]:
    """The grams of each word that counts, and how many of them make it said.

    Of scripts without spaces each pair of characters is a word, said when both are and stand together.
    """
    for word in words(question):
        if is_unspaced(word):
            yield from ((list(grams(word[at : at + 2])), 3.0) for at in range(len(word) - 1))
        elif len(word) >= LETTERS and word not in GRAMMAR:
            parts = list(grams(word))
            yield parts, SAID * len(parts)
