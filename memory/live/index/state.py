"""How far the index of a workspace has come."""

import msgspec

from memory.live.embedders import EmbedderError, get_embedder
from memory.live.index.drafting import entry_name
from memory.queries.entries import MANY, count_behind, count_entries


class IndexState(msgspec.Struct, frozen=True):
    """The embedder that is set up, the paths that have an entry, and how many of these it has not embedded.

    ``waiting`` is counted up to ``many``. ``error`` says what is wrong with the embedder, where it is known.
    """

    embedder: str
    paths: int
    waiting: int
    error: str = ""
    many: int = MANY


def get_index_state(workspace_id: int) -> IndexState:
    """Two counts."""
    paths = count_entries(workspace_id)
    try:
        embedder = get_embedder()
    except EmbedderError as error:
        return IndexState("", paths, 0, str(error))
    return IndexState(embedder.name, paths, count_behind(entry_name(embedder), workspace_id))
