"""The index of paths: which of a workspace's paths are near a question.

One face, two ways: on SQLite all vectors are in this process's memory and compared exactly, on PostgreSQL
pgvector searches them. Ask outside a transaction: what a transaction has not committed yet may be remembered.
"""

from django.db import connection

from memory.live.index.approximate import ApproximateIndex
from memory.live.index.exact import ExactIndex
from memory.live.index.question import Filters, Neighbour, Question, Vector

__all__ = ["EXACT", "Filters", "Neighbour", "Question", "Vector", "find_near", "list_embedders"]

EXACT, APPROXIMATE = ExactIndex(), ApproximateIndex()


def find_near(question: Question) -> list[Neighbour]:
    """The paths that may answer the question, in no order: candidates for a ranking.

    They are the nearest by goal and by actions, the failed ones and those found by tags apart, and the
    workspace's templates: at most 3.5 times the question's ``limit``, and 50. All of them pass the filters.
    """
    return _index().search(question)


def list_embedders(workspace_id: int) -> list[str]:
    """The embedders a question needs vectors of, to meet all paths; "" stands for paths without vectors."""
    return _index().embedders(workspace_id)


def _index() -> ExactIndex | ApproximateIndex:
    return APPROXIMATE if connection.vendor == "postgresql" else EXACT
