"""The built-in embedder: hashed character n-grams. No model, any language, the same on every machine."""

import zlib
from collections.abc import Sequence

import numpy as np

from memory.domain.locating.grams import weigh
from memory.live.embedders.port import Vectors

DIMS = 256


class BuiltinEmbedder:
    """Signed feature hashing (Weinberger et al. 2009) of :func:`memory.domain.locating.grams.weigh`.

    The gram with CRC-32 ``h`` adds its weight, negative when ``h`` is odd, to place ``(h >> 1) % 256``; the
    sum is scaled to length 1. The signs make collisions cancel on average, so the dot product of two
    vectors estimates the cosine of the n-gram counts, give or take 1/16.
    """

    name = f"builtin-{DIMS}"
    dims = DIMS
    ranks = False

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One unit row a text."""
        vectors = np.zeros((len(texts), DIMS), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for gram, weight in weigh(text).items():
                code = zlib.crc32(gram.encode())
                row[(code >> 1) % DIMS] += -weight if code & 1 else weight
        return unit_rows(vectors)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """As :meth:`embed_passages`."""
        return self.embed_passages(texts)


def unit_rows(vectors: Vectors) -> Vectors:
    """Each row scaled to length 1; rows of zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)
