"""What every embedder can do."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class EmbedderError(RuntimeError):
    """Texts could not be embedded; the text says what an operator can do about it."""


class Embedder(Protocol):
    """Turns texts into vectors of which near ones mean the same.

    ``name`` goes into every index row (other names and sizes are never compared), ``dims`` is the length of
    a vector. ``ranks`` tells whether the vectors know more than the characters of the text: then they take
    part in the ranking too, not only in finding candidates.
    """

    @property
    def name(self) -> str: ...

    @property
    def dims(self) -> int: ...

    @property
    def ranks(self) -> bool: ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Of what is stored: n rows of ``dims`` numbers, each of length 1 (or 0 for a text without words).

        Raises :class:`EmbedderError`.
        """

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Of what is asked; shape and errors as :meth:`embed_passages`."""
