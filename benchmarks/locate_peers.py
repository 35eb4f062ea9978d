"""The simple ways to find a run for a question, written from their formulas: words, BM25, n-grams."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.streams import Run

Features = Callable[[str], list[str]]
K1, B = 1.5, 0.75


class Method(Protocol):
    """Scores every run of the corpus for a question."""

    name: str

    def score(self, question: str) -> NDArray[np.float64]: ...


def simple_methods(runs: Sequence[Run]) -> list[Method]:
    """The four rows of EVALUATION that need no model."""
    goals = [run.goal for run in runs]
    told = [f"{run.goal} {' '.join(_actions(run))}" for run in runs]
    solved = np.array([bool(run.success) for run in runs])
    return [
        WordJaccard(goals),
        Bm25(goals),
        TfIdf("char 3-5 TF-IDF", goals),
        TfIdf("goal + actions, solved first", told, first=solved),
    ]


class WordJaccard:
    """Shared words over all words."""

    name = "word Jaccard"

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = [frozenset(_words(text)) for text in texts]

    def score(self, question: str) -> NDArray[np.float64]:
        asked = frozenset(_words(question))
        return np.array([len(asked & text) / max(1, len(asked | text)) for text in self._texts])


class Bm25:
    """Robertson & Zaragoza 2009, k1 1.5, b 0.75."""

    name = "BM25"

    def __init__(self, texts: Sequence[str]) -> None:
        self._counts = [Counter(_words(text)) for text in texts]
        sizes = np.array([sum(counts.values()) for counts in self._counts])
        self._scale = K1 * (1 - B + B * sizes / max(sizes.mean(), 1e-9))
        self._in = Counter(word for counts in self._counts for word in counts)

    def score(self, question: str) -> NDArray[np.float64]:
        total = np.zeros(len(self._counts))
        for word in set(_words(question)):
            weight = math.log(1 + (len(self._counts) - self._in[word] + 0.5) / (self._in[word] + 0.5))
            often = np.array([counts[word] for counts in self._counts])
            total += weight * often * (K1 + 1) / (often + self._scale)
        return total


class TfIdf:
    """Cosine of 1 + ln tf times smoothed idf over character n-grams of 3 to 5, within words."""

    def __init__(self, name: str, texts: Sequence[str], *, first: NDArray[np.bool_] | None = None) -> None:
        self.name = name
        self._first = np.zeros(len(texts)) if first is None else first.astype(float)
        self._counts = [Counter(_grams(text)) for text in texts]
        occurs = Counter(gram for counts in self._counts for gram in counts)
        self._idf = {gram: math.log((1 + len(texts)) / (1 + count)) + 1 for gram, count in occurs.items()}
        self._postings: dict[str, list[tuple[int, float]]] = {}
        for place, counts in enumerate(self._counts):
            for gram, weight in self._unit(counts).items():
                self._postings.setdefault(gram, []).append((place, weight))

    def score(self, question: str) -> NDArray[np.float64]:
        total = np.zeros(len(self._counts))
        for gram, weight in self._unit(Counter(_grams(question))).items():
            for place, other in self._postings.get(gram, []):
                total[place] += weight * other
        return total + self._first

    def _unit(self, counts: Counter[str]) -> dict[str, float]:
        weights = {
            gram: (1 + math.log(count)) * self._idf[gram]
            for gram, count in counts.items()
            if gram in self._idf
        }
        length = math.sqrt(sum(weight**2 for weight in weights.values())) or 1.0
        return {gram: weight / length for gram, weight in weights.items()}


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _grams(text: str) -> list[str]:
    padded = (f" {word} " for word in _words(text))
    return [
        word[at : at + size] for word in padded for size in (3, 4, 5) for at in range(len(word) - size + 1)
    ]


def _actions(run: Run) -> list[str]:
    return [f"{call.tool} {' '.join(_leaves(call.args))}" for call in run.calls if not call.failed]


def _leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in _leaves(inner)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in _leaves(inner)]
    return [str(value)]
