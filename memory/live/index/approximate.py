"""The index of the scale profile: pgvector in PostgreSQL, nothing in this process.

Few rows pass the filters: they are compared exactly, from a materialised query (the planner would walk the
vector index and throw nearly everything away). Many pass: the HNSW index of the embedder is walked, further
and further until enough rows passed (``hnsw.iterative_scan``), but not without end; if that was too short,
the exact way answers. How many will pass is the planner's own estimate, which costs no scan.

Failed paths are not walked for apart (they may be few, and a walk for few is long): those among the nearest
1.5 times ``limit`` come along.
"""

import json
import time
from collections.abc import Sequence
from typing import Any

from django.db import connection

from memory.live.index.question import Neighbour, Question
from memory.live.index.statements import Passing, Search
from memory.writer.vectors import TABLE

EF_SEARCH, EF_SEARCH_OF_MANY = 200, 400
"""Breadth of the walk, and from ``MANY`` rows on: the recall of a breadth falls as rows become more
(docs/benchmarks/locate_scale.md)."""
MANY = 250_000
MAX_SCANNED = 20_000  # rows that one walk may visit
ESTIMATE_S, KEPT_ESTIMATES = 10.0, 1_000  # an old estimate costs time, never a right answer

_EMBEDDERS = f"""
    WITH RECURSIVE seen AS (
        (SELECT embedder FROM {TABLE} WHERE workspace_id = %(home)s ORDER BY embedder LIMIT 1)
        UNION ALL
        SELECT (SELECT embedder FROM {TABLE} WHERE workspace_id = %(home)s AND embedder > seen.embedder
                ORDER BY embedder LIMIT 1)
        FROM seen WHERE seen.embedder IS NOT NULL
    )
    SELECT embedder FROM seen WHERE embedder IS NOT NULL
"""  # noqa: S608 - a name of ours; one step in an index for each embedder


class ApproximateIndex:
    """Asks the database, mostly in one message. Holds no rows, so any number of processes may use it."""

    nbytes = 0

    def __init__(self) -> None:
        self._passing: dict[Any, tuple[float, Passing]] = {}

    def search(self, question: Question) -> list[Neighbour]:
        """All that is near, in no order."""
        with connection.cursor() as cursor:
            searches = [Search(cursor, question, embedder) for embedder in question.vectors]
            passing = [self._estimate(cursor, search) for search in searches]
            statements = [search.statement(some) for search, some in zip(searches, passing, strict=True)]
            settings = _settings(max((some.filters for some in passing), default=0.0))
            rows = _ask(cursor, [settings, _bound(cursor, _EMBEDDERS, question.workspace_id), *statements])
            found: list[Neighbour] = []
            for search, near in zip(searches, rows[2:], strict=True):
                enough = len(near) >= question.limit or search.is_exact
                found += search.neighbours(near if enough else _ask(cursor, [search.one_by_one()])[0])
            for (embedder,) in rows[1]:
                if embedder not in question.vectors:
                    search = Search(cursor, question, embedder)
                    found += search.neighbours(_ask(cursor, [search.without_vector()])[0])
        return found

    def embedders(self, workspace_id: int) -> list[str]:
        """The embedders that have embedded any of the workspace's paths; "" for paths without vectors."""
        with connection.cursor() as cursor:
            return [name for (name,) in _ask(cursor, [_bound(cursor, _EMBEDDERS, workspace_id)])[0]]

    def forget(self) -> None:
        """Drop the estimates (tests)."""
        self._passing = {}

    def _estimate(self, cursor: Any, search: Search) -> Passing:
        now = time.monotonic()
        made_at, passing = self._passing.get(search.key, (-ESTIMATE_S, None))
        if passing is None or now - made_at >= ESTIMATE_S:
            plans = [
                json.loads(rows[0][0]) if isinstance(rows[0][0], str) else rows[0][0]
                for rows in _ask(cursor, search.estimates())
            ]
            counts = [float(plan[0]["Plan"]["Plan Rows"]) for plan in plans]
            passing = Passing(counts[0], counts[-1])
            if len(self._passing) >= KEPT_ESTIMATES:
                self._passing = {}
            self._passing[search.key] = now, passing
        return passing


def _settings(rows: float) -> str:
    """How far the walks of this transaction go when so many rows pass."""
    breadth = EF_SEARCH if rows < MANY else EF_SEARCH_OF_MANY
    return f"""
        SELECT set_config('hnsw.ef_search', '{breadth}', true),
               set_config('hnsw.iterative_scan', 'relaxed_order', true),
               set_config('hnsw.max_scan_tuples', '{MAX_SCANNED}', true)
    """


def _bound(cursor: Any, statement: str, workspace_id: int) -> str:
    return str(cursor.mogrify(statement, {"home": workspace_id}))


def _ask(cursor: Any, statements: Sequence[str]) -> list[list[Any]]:
    """Several statements in one message, which makes them one transaction; the rows of each."""
    cursor.execute("; ".join(statements))
    rows = [cursor.fetchall()]
    while cursor.nextset():
        rows.append(cursor.fetchall())
    return rows
