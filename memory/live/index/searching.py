"""One face, two ways: all vectors in this process's memory on SQLite, pgvector on PostgreSQL."""

import time

from django.db import connection

from memory.live.index.approximate import ApproximateIndex
from memory.live.index.exact import ExactIndex
from memory.live.index.question import Neighbour, Question

FRESH_S = 10.0
"""How old the list of a workspace's embedders may be: it changes when another embedder is set up."""

EXACT, APPROXIMATE = ExactIndex(), ApproximateIndex()
_embedders: dict[int, tuple[float, list[str]]] = {}


def find_near(question: Question) -> list[Neighbour]:
    """The paths that may answer the question, in no order: candidates for a ranking.

    They are the nearest by goal and by actions, the failed ones and those found by tags apart, and the
    workspace's templates: at most 3.5 times the question's ``limit``, and 50. All of them pass the filters.
    """
    return _index().search(question)


def list_embedders(workspace_id: int) -> list[str]:
    """The embedders a question needs vectors of, to meet all paths; "" stands for paths without vectors."""
    listed_at, names = _embedders.get(workspace_id, (0.0, []))
    now = time.monotonic()
    if not names or now - listed_at >= FRESH_S:
        names = _index().embedders(workspace_id)
        _embedders[workspace_id] = now, names
    return names


def forget_index() -> None:
    """Drop what this process keeps in memory (tests)."""
    EXACT.forget()
    APPROXIMATE.forget()
    _embedders.clear()


def _index() -> ExactIndex | ApproximateIndex:
    return APPROXIMATE if connection.vendor == "postgresql" else EXACT
