"""The index of the scale profile: pgvector in PostgreSQL, nothing in this process.

Few rows pass the filters: they are compared exactly, from a materialised query (the planner would walk the
vector index and throw nearly everything away). Many pass: the HNSW index of the embedder is walked, further
and further until enough rows passed (``hnsw.iterative_scan``), but not without end; if that was too short,
the exact way answers. How many will pass is the planner's own estimate, which costs no scan.

Failed paths are not walked for apart (they may be few, and a walk for few is long): those among the nearest
1.5 times ``limit`` come along.
"""

import json
from collections.abc import Sequence
from typing import Any

from django.db import connection, transaction

from memory.live.index.question import (
    GOAL_SHARE,
    MAX_TEMPLATES,
    MIN_TAG_OVERLAP,
    TAG_SHARE,
    Neighbour,
    Question,
    Vector,
)
from memory.writer.vectors import KINDS, TABLE, as_text, from_binary

EXACT_ROWS = 6_000
"""Rows that are compared one by one rather than through the index: about 10 ms of 384 numbers."""

TAG_ROWS = 5_000  # rows that share a tag, up to which the best overlap is looked for among all of them
EF_SEARCH = 200  # breadth of the walk; docs/benchmarks/locate_scale.md has the recall
MAX_SCANNED = 20_000  # rows that one walk may visit

SHARES_TAG = " AND tags && %(tags)s::text[]"
REAL = "result <> 'template'"
WORKED, FAILED, TEMPLATE = (
    "result NOT IN ('failure', 'template')",
    "result = 'failure'",
    "result = 'template'",
)

_SETTINGS = """
    SELECT set_config('hnsw.ef_search', %s, true), set_config('hnsw.iterative_scan', 'relaxed_order', true),
           set_config('hnsw.max_scan_tuples', %s, true)
"""
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
_BEST_OVERLAP = f"""
    (SELECT path_id FROM tagged WHERE overlap >= {MIN_TAG_OVERLAP}
     ORDER BY {TAG_SHARE} * overlap + {GOAL_SHARE} * goal_cosine DESC LIMIT %(limit)s)
"""  # noqa: S608


class ApproximateIndex:
    """Asks the database. Holds nothing, so it is always current and any number of processes may use it."""

    nbytes = 0

    def search(self, question: Question) -> list[Neighbour]:
        """All that is near, in no order."""
        found: list[Neighbour] = []
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_SETTINGS, [str(EF_SEARCH), str(MAX_SCANNED)])
            for embedder in _embedders(cursor, question.workspace_id):
                found += _Search(cursor, question, embedder).run()
        return found

    def embedders(self, workspace_id: int) -> list[str]:
        """The embedders that have embedded any of the workspace's paths; "" for paths without vectors."""
        with connection.cursor() as cursor:
            return _embedders(cursor, workspace_id)

    def forget(self) -> None:
        """Nothing to drop."""


class _Search:
    """One question to the rows of one embedder."""

    def __init__(self, cursor: Any, question: Question, embedder: str) -> None:
        self.cursor, self.question, self.embedder = cursor, question, embedder
        self.vector: Vector | None = question.vectors.get(embedder)
        self.where, self.values = _conditions(question)
        self.where += " AND embedder = %(embedder)s"
        tags = list(dict.fromkeys(question.tags))
        self.values |= {f"tag_{at}": [tag] for at, tag in enumerate(tags)}
        self.values |= {
            "embedder": embedder,
            "tags": tags,
            "limit": question.limit,
            "fewer": question.limit // 2,
            "more": question.limit * 3 // 2,
            "vector": None if self.vector is None else as_text(self.vector),
        }

    def run(self) -> list[Neighbour]:
        """Through the index where that pays, row by row otherwise."""
        if self.vector is None:
            return self._neighbours(self._without_vector())
        if self._estimate() > EXACT_ROWS:
            found = self._neighbours(self._through_index(len(self.vector)))
            if len(found) >= self.question.limit:
                return found
        return self._neighbours(self._one_by_one())

    def _estimate(self, also: str = "") -> float:
        sql = f"EXPLAIN (FORMAT JSON) SELECT 1 FROM {TABLE} WHERE {self.where}{also}"  # noqa: S608
        self.cursor.execute(sql, self.values)
        plan = self.cursor.fetchone()[0]
        plan = json.loads(plan) if isinstance(plan, str) else plan
        return float(plan[0]["Plan"]["Plan Rows"])

    def _through_index(self, size: int) -> str:
        def nearest(kind: str, which: str, limit: str) -> str:
            return (
                f"(SELECT path_id FROM {TABLE} WHERE {self.where} AND {which} "  # noqa: S608
                f"ORDER BY {kind}::halfvec({size}) <#> (SELECT v FROM asked) LIMIT {limit})"
            )

        tables, near = (
            [],
            [
                nearest("goal", WORKED, "%(limit)s"),
                nearest("actions", WORKED, "%(limit)s"),
                nearest("goal", REAL, "%(more)s"),
                self._templates(),
            ],
        )
        if self.question.tags:
            if self._estimate(SHARES_TAG) > TAG_ROWS:
                near.append(nearest("goal", SHARES_TAG.removeprefix(" AND "), "%(limit)s"))
            else:
                tables.append(f"tagged AS MATERIALIZED ({self._rows(self.where + SHARES_TAG)})")
                near.append(_BEST_OVERLAP)
        return self._statement(tables, near)

    def _one_by_one(self) -> str:
        def best(by: str, which: str, limit: str) -> str:
            return f"(SELECT path_id FROM tagged WHERE {which} ORDER BY {by} DESC LIMIT {limit})"  # noqa: S608

        near = [
            best("goal_cosine", WORKED, "%(limit)s"),
            best("actions_cosine", WORKED, "%(limit)s"),
            best("goal_cosine", FAILED, "%(fewer)s"),
            self._templates(),
        ] + [_BEST_OVERLAP] * bool(self.question.tags)
        return self._statement([f"tagged AS MATERIALIZED ({self._rows(self.where)})"], near)

    def _without_vector(self) -> str:
        if not self.question.tags:
            return self._statement([], [self._templates()])
        tagged = f"tagged AS MATERIALIZED ({self._rows(self.where + SHARES_TAG)} LIMIT {EXACT_ROWS})"
        return self._statement([tagged], [self._templates(), _BEST_OVERLAP])

    def _templates(self) -> str:
        return f"(SELECT path_id FROM {TABLE} WHERE {self.where} AND {TEMPLATE} LIMIT {MAX_TEMPLATES})"  # noqa: S608

    def _rows(self, where: str, also: str = "") -> str:
        goal, actions = (
            "0.0" if self.vector is None else f"-({kind} <#> (SELECT v FROM asked))"  # noqa: S608
            for kind in KINDS
        )
        overlap = self._overlap() if self.question.tags else "0.0"
        columns = f"path_id, result, {goal} AS goal_cosine, {actions} AS actions_cosine, {overlap} AS overlap"
        return f"SELECT {columns}{also} FROM {TABLE} WHERE {where}"  # noqa: S608

    def _overlap(self) -> str:
        """Jaccard of the question's tags and a path's, which are each there once."""
        wanted = len(self.values["tags"])
        shared = " + ".join(f"(tags @> %(tag_{at})s::text[])::int" for at in range(wanted))
        either = f"cardinality(tags) + {wanted} - shared"
        return f"(SELECT shared / ({either}) FROM (SELECT ({shared})::float AS shared))"  # noqa: S608

    def _statement(self, tables: Sequence[str], near: Sequence[str]) -> str:
        asked = "asked AS (SELECT %(vector)s::halfvec AS v)"
        tables = [asked, *tables, f"near AS ({' UNION '.join(near)})"]
        vectors = ", halfvec_send(goal)" if self.question.wants_vectors and self.vector is not None else ""
        rows = self._rows("path_id IN (SELECT path_id FROM near)", vectors)
        return f"WITH {', '.join(tables)} {rows}"

    def _neighbours(self, statement: str) -> list[Neighbour]:
        self.cursor.execute(statement, self.values)
        return [
            Neighbour(
                path_id,
                float(goal),
                float(actions),
                float(overlap),
                self.embedder,
                *map(from_binary, vectors),
            )
            for path_id, _, goal, actions, overlap, *vectors in self.cursor.fetchall()
        ]


def _embedders(cursor: Any, workspace_id: int) -> list[str]:
    cursor.execute(_EMBEDDERS, {"home": workspace_id})
    return [name for (name,) in cursor.fetchall()]


def _conditions(question: Question) -> tuple[str, dict[str, Any]]:
    """The filters as SQL, and its values."""
    filters = question.filters
    values: dict[str, Any] = {"home": question.workspace_id}
    parts = ["workspace_id = %(home)s"]
    for name, sql, value in (
        ("statuses", "status = ANY(%(statuses)s)", list(filters.statuses)),
        ("levels", "level = ANY(%(levels)s)", list(filters.levels)),
        ("results", "result = ANY(%(results)s)", list(filters.results)),
        ("agent", "agent = %(agent)s", filters.agent),
        ("since", "walked_at >= %(since)s", filters.since),
        ("until", "walked_at < %(until)s", filters.until),
        ("tag", "tags @> ARRAY[%(tag)s]::text[]", filters.tag),
        ("tool", "tools @> ARRAY[%(tool)s]::text[]", filters.tool),
    ):
        if value:
            parts.append(sql)
            values[name] = value
    return " AND ".join(parts), values
