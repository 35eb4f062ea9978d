"""Index entries of path documents, made before the transaction that stores the paths."""

import logging
from collections.abc import Iterable, Sequence

from django.db import connection

from memory.domain.locating.entries import FORMAT, actions_text, encode_entry, entry_of, goal_text
from memory.domain.paths.document import PathDoc, path_digest
from memory.live.embedders import Embedder, EmbedderError, get_embedder
from memory.live.index.question import Vector
from memory.writer.entries import EntryDraft, bare_draft

log = logging.getLogger(__name__)


def entry_name(embedder: Embedder) -> str:
    """What an index row says it was made with: the embedder, and the format of the entry beside it."""
    return f"{embedder.name}/{FORMAT}"


def draft_entries(docs: Iterable[PathDoc]) -> dict[str, EntryDraft]:
    """The entries of these documents and of all their parts, by :func:`path_digest`.

    Never fails: what the embedder does not answer is left without vectors, for the background to embed later.
    So is everything inside a transaction, unless the embedder is the built-in one: a model may take seconds.
    """
    whole = {path_digest(doc): doc for doc in _with_parts(docs)}
    try:
        embedder = get_embedder()
        if not (embedder.ranks and connection.in_atomic_block):
            return dict(zip(whole, embed_documents(list(whole.values()), embedder), strict=True))
    except EmbedderError as error:
        log.warning("Paths are stored without vectors for now: %s", error)
    return {digest: bare_draft(doc) for digest, doc in whole.items()}


def embed_documents(docs: Sequence[PathDoc], embedder: Embedder) -> list[EntryDraft]:
    """The entry of each document. Raises :class:`EmbedderError`."""
    if not docs:
        return []
    texts = [text for doc in docs for text in (goal_text(doc), actions_text(doc))]
    rows = embedder.embed_passages(texts)
    name = entry_name(embedder)
    return [
        EntryDraft(
            entry=encode_entry(entry_of(doc)),
            embedder=name,
            goal_vector=_as_bytes(rows[2 * at]),
            actions_vector=_as_bytes(rows[2 * at + 1]),
        )
        for at, doc in enumerate(docs)
    ]


def _as_bytes(vector: Vector) -> bytes:
    return vector.astype("<f4").tobytes()


def _with_parts(docs: Iterable[PathDoc]) -> Iterable[PathDoc]:
    for doc in docs:
        yield doc
        yield from _with_parts(doc.parts)
