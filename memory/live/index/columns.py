"""Growing arrays that are only ever appended to, so that readers need no lock.

A reader keeps a view of the rows that were there when it looked. The writer (one at a time) writes behind
them; when an array is full it goes on in a larger copy, and old views keep the old one alive.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

GROWTH = 1.5


class Column:
    """One array of rows of ``width`` numbers (0: a plain number each)."""

    def __init__(self, dtype: DTypeLike, *, width: int = 0, capacity: int = 64) -> None:
        self._width = width
        self._rows = np.empty(self._shape(capacity), dtype=dtype)
        self.count = 0

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self._rows.nbytes

    def append(self, values: Sequence[object] | NDArray[Any]) -> None:
        """Add rows at the end."""
        end = self.count + len(values)
        if end > len(self._rows):
            larger = np.empty(self._shape(max(end, int(len(self._rows) * GROWTH))), dtype=self._rows.dtype)
            larger[: self.count] = self._rows[: self.count]
            self._rows = larger
        self._rows[self.count : end] = values
        self.count = end

    def view(self) -> NDArray[Any]:
        """The rows so far, without a copy. They never change."""
        return self._rows[: self.count]

    def _shape(self, rows: int) -> tuple[int, ...]:
        return (rows, self._width) if self._width else (rows,)


class Words:
    """For each row a set of words (its tags, its tools), as codes in one flat array beside their rows."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}
        self._flat = Column(np.int32)
        self._rows = Column(np.int32)
        self._sizes = Column(np.int32)

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes, without the words themselves."""
        return self._flat.nbytes + self._rows.nbytes + self._sizes.nbytes

    def append(self, sets: Sequence[Sequence[str]]) -> None:
        """The words of the next rows, each word once a row."""
        first, codes = self._sizes.count, self.codes
        self._flat.append([codes.setdefault(word, len(codes)) for words in sets for word in words])
        self._rows.append([first + at for at, words in enumerate(sets) for _ in words])
        self._sizes.append([len(words) for words in sets])

    def packed(self, alive: NDArray[np.bool_]) -> "Words":
        """A copy of these rows only, numbered anew."""
        other = Words()
        other.codes = self.codes
        kept = alive[self._rows.view()]
        other._flat.append(self._flat.view()[kept])
        other._rows.append((np.cumsum(alive) - 1)[self._rows.view()[kept]])
        other._sizes.append(self._sizes.view()[alive])
        return other

    def view(self) -> "WordsView":
        """What is there so far."""
        return WordsView(self.codes, self._flat.view(), self._rows.view(), self._sizes.view())


class WordsView:
    """The word sets of the rows that were there when it was made."""

    def __init__(
        self, codes: dict[str, int], flat: NDArray[Any], rows: NDArray[Any], sizes: NDArray[Any]
    ) -> None:
        self._codes, self._flat, self._rows, self._sizes = codes, flat, rows, sizes

    def has(self, word: str) -> NDArray[np.bool_]:
        """For each row whether it has the word."""
        return self.shared([word]) > 0

    def shared(self, words: Sequence[str]) -> NDArray[np.float32]:
        """For each row how many of these words it has."""
        count = np.zeros(len(self._sizes), dtype=np.float32)
        for code in {self._codes.get(word, -1) for word in words}:
            count[self._rows[np.flatnonzero(self._flat == code)]] += 1
        return count

    def jaccard(self, words: Sequence[str]) -> NDArray[np.float32]:
        """For each row |shared| / |either|, 0 where nothing is shared."""
        shared = self.shared(words)
        if not words:
            return shared
        return np.asarray(shared / (len(set(words)) + self._sizes - shared), dtype=np.float32)
