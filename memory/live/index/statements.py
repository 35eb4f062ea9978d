"""The statements with which PostgreSQL is asked for near paths."""

from collections.abc import Sequence
from typing import Any

import msgspec

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

TAG_ROWS = 1_500
"""Rows that share a tag, up to which the best overlap is looked for among all of them. Of more, the nearest
by goal are walked to, half as many: each row on the way is a page to fetch."""

SHARES_TAG = " AND tags && %(tags)s::text[]"
REAL = "result <> 'template'"
WORKED, FAILED, TEMPLATE = (
    "result NOT IN ('failure', 'template')",
    "result = 'failure'",
    "result = 'template'",
)

_BEST_OVERLAP = f"""
    (SELECT path_id FROM tagged WHERE overlap >= {MIN_TAG_OVERLAP}
     ORDER BY {TAG_SHARE} * overlap + {GOAL_SHARE} * goal_cosine DESC LIMIT %(limit)s)
"""  # noqa: S608


class Passing(msgspec.Struct, frozen=True):
    """How many rows the planner expects to pass the filters, and how many of these to share a tag."""

    filters: float
    tags: float


class Search:
    """One question to the rows of one embedder, as statements."""

    def __init__(self, cursor: Any, question: Question, embedder: str) -> None:
        self._cursor, self.question, self.embedder = cursor, question, embedder
        self.vector: Vector | None = question.vectors.get(embedder)
        self.where, self.values = _conditions(question)
        self.where += " AND embedder = %(embedder)s"
        tags = list(dict.fromkeys(question.tags))
        self.key = (question.workspace_id, embedder, question.filters, tuple(tags))
        self.is_exact = True
        self.values |= {f"tag_{at}": [tag] for at, tag in enumerate(tags)}
        self.values |= {
            "embedder": embedder,
            "tags": tags,
            "limit": question.limit,
            "fewer": question.limit // 2,
            "more": question.limit * 3 // 2,
            "vector": None if self.vector is None else as_text(self.vector),
        }

    def estimates(self) -> list[str]:
        """Plans from which to read how many rows will pass: by the filters, and by the tags beside them."""
        also = ["", SHARES_TAG] if self.question.tags else [""]
        explain = f"EXPLAIN (FORMAT JSON) SELECT 1 FROM {TABLE} WHERE {self.where}"  # noqa: S608
        return [self._bind(explain + more) for more in also]

    def statement(self, passing: Passing) -> str:
        """Through the index where that pays, row by row otherwise."""
        self.is_exact = self.vector is None or passing.filters <= EXACT_ROWS
        return self.one_by_one() if self.is_exact else self._through_index(passing)

    def _through_index(self, passing: Passing) -> str:
        size = len(self.vector) if self.vector is not None else 0

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
            if passing.tags > TAG_ROWS:
                near.append(nearest("goal", SHARES_TAG.removeprefix(" AND "), "%(fewer)s"))
            else:
                tables.append(f"tagged AS MATERIALIZED ({self._rows(self.where + SHARES_TAG)})")
                near.append(_BEST_OVERLAP)
        return self._statement(tables, near)

    def one_by_one(self) -> str:
        """Compare every row that passes."""

        def best(by: str, which: str, limit: str) -> str:
            return f"(SELECT path_id FROM tagged WHERE {which} ORDER BY {by} DESC LIMIT {limit})"  # noqa: S608

        near = [
            best("goal_cosine", WORKED, "%(limit)s"),
            best("actions_cosine", WORKED, "%(limit)s"),
            best("goal_cosine", FAILED, "%(fewer)s"),
            self._templates(),
        ] + [_BEST_OVERLAP] * bool(self.question.tags)
        return self._statement([f"tagged AS MATERIALIZED ({self._rows(self.where)})"], near)

    def without_vector(self) -> str:
        """By tags only, and the templates."""
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
        return self._bind(f"WITH {', '.join(tables)} {rows}")

    def _bind(self, statement: str) -> str:
        return str(self._cursor.mogrify(statement, self.values))

    def neighbours(self, rows: Sequence[Any]) -> list[Neighbour]:
        """What the rows of a statement say."""
        return [
            Neighbour(
                path_id,
                float(goal),
                float(actions),
                float(overlap),
                self.embedder,
                *map(from_binary, vectors),
            )
            for path_id, _, goal, actions, overlap, *vectors in rows
        ]


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
