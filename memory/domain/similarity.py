"""Which patterns resemble each other: cheap, deterministic, one new pattern at a time.

score = 0.5 x template + 0.3 x identifier + 0.2 x same tool. Template and identifier are compared by the
Dice coefficient of their character trigrams; where only one side has an identifier that part is 0,
where neither has, its weight goes to the others. Templates are few even among many patterns, so they
are compared once each.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from memory.domain.patterns import PatternKey

W_TEMPLATE, W_IDENTIFIER, W_TOOL = 0.5, 0.3, 0.2
THRESHOLD = 0.6
TOP_K = 5
_GRAM = 3


class Similar(NamedTuple):
    """A pattern that resembles another; ``score`` is between 0 and 1."""

    fingerprint: str
    score: float


def similarity(first: PatternKey, second: PatternKey) -> float:
    """How much two patterns resemble each other, 0 to 1, symmetric."""
    return _score(first, second, _dice(_grams(first.template), _grams(second.template)))


def similar_to(
    pattern: PatternKey, others: Iterable[PatternKey], *, k: int = TOP_K, threshold: float = THRESHOLD
) -> list[Similar]:
    """The ``k`` patterns most like this one with at least ``threshold``, best first, ties by fingerprint.

    Links are meant to be stored for the new pattern only, both ways: nothing that is stored changes.
    """
    grams = _grams(pattern.template)
    templates: dict[str, float] = {}
    found: list[Similar] = []
    for other in others:
        if other.fingerprint == pattern.fingerprint:
            continue
        alike = templates.get(other.template)
        if alike is None:
            alike = templates[other.template] = _dice(grams, _grams(other.template))
        if W_TEMPLATE * alike + W_IDENTIFIER + W_TOOL < threshold:
            continue
        score = _score(pattern, other, alike)
        if score >= threshold:
            found.append(Similar(other.fingerprint, round(score, 4)))
    return sorted(found, key=lambda item: (-item.score, item.fingerprint))[:k]


def _score(first: PatternKey, second: PatternKey, template: float) -> float:
    tool = float(first.tool == second.tool)
    if not first.identifier and not second.identifier:
        return (W_TEMPLATE * template + W_TOOL * tool) / (W_TEMPLATE + W_TOOL)
    names = _dice(_grams(first.identifier), _grams(second.identifier))
    return W_TEMPLATE * template + W_IDENTIFIER * names + W_TOOL * tool


@lru_cache(maxsize=20_000)
def _grams(text: str) -> frozenset[str]:
    if not text:
        return frozenset()
    padded = f"  {text.casefold()} "
    return frozenset(padded[n : n + _GRAM] for n in range(len(padded) - _GRAM + 1))


def _dice(first: frozenset[str], second: frozenset[str]) -> float:
    if not first or not second:
        return 0.0
    return 2 * len(first & second) / (len(first) + len(second))
