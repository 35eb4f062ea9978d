"""The index of paths: which of a workspace's paths are near a question.

Writers :func:`draft_entries` before their transaction. Readers :func:`embed_question` and
:func:`find_candidates`, outside a transaction: the index in memory may remember what is not committed yet.
"""

from memory.live.index.candidates import Asked, embed_question, find_candidates
from memory.live.index.drafting import draft_entries, embed_documents, entry_name
from memory.live.index.question import Filters, Neighbour, Question
from memory.live.index.searching import EXACT, find_near, forget_index, list_embedders
from memory.live.index.state import IndexState, get_index_state
from memory.live.index.warming import start_warming

__all__ = [
    "EXACT", "Asked", "Filters", "IndexState", "Neighbour", "Question", "draft_entries", "embed_documents",
    "embed_question", "entry_name", "find_candidates", "find_near", "forget_index", "get_index_state",
    "list_embedders", "start_warming",
]  # fmt: skip
