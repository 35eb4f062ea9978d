"""Vectors of the path index on PostgreSQL: the table ``memory_pathvector`` that pgvector searches.

Django knows nothing of the table; the migration ``0003_pgvector`` makes it. The columns beside the vectors
are copies from the path, so that a search can filter without a join. SQLite has no such table.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence

import numpy as np
from django.db import connection

TABLE = "memory_pathvector"
KINDS = ("goal", "actions")
MAX_INDEXED_DIMS = 4_000  # pgvector's limit for an index over halfvec

COPIES = "status, result, level, agent, tools, tags, walked_at"
_FROM_PATH = """
    p.status, p.result, p.level, p.agent,
    ARRAY(SELECT jsonb_array_elements_text(p.tools)),
    ARRAY(SELECT DISTINCT jsonb_array_elements_text(p.tags)),
    p.created_at
"""
_WRITE = f"""
    INSERT INTO {TABLE} (path_id, workspace_id, embedder, goal, actions, {COPIES})
    SELECT p.id, p.workspace_id, %s, %s, %s, {_FROM_PATH} FROM memory_path p WHERE p.id = %s
    ON CONFLICT (path_id) DO UPDATE SET embedder = excluded.embedder, goal = excluded.goal,
        actions = excluded.actions, {", ".join(f"{name} = excluded.{name}" for name in COPIES.split(", "))}
"""  # noqa: S608 - names of this module
_COPY = f"""
    UPDATE {TABLE} v SET status = p.status, result = p.result FROM memory_path p
    WHERE p.id = v.path_id AND p.id = ANY(%s) AND (v.status, v.result) IS DISTINCT FROM (p.status, p.result)
"""  # noqa: S608


def are_kept() -> bool:
    """Whether this database searches vectors itself."""
    return connection.vendor == "postgresql"


def write_vectors(rows: Iterable[tuple[int, str, bytes, bytes]]) -> None:
    """Write or replace ``(path id, embedder, goal vector, actions vector)``, in the current transaction."""
    values = [
        (embedder, as_text(goal), as_text(actions), path_id) for path_id, embedder, goal, actions in rows
    ]
    with connection.cursor() as cursor:
        cursor.executemany(_WRITE, values)


def copy_columns(path_ids: Sequence[int]) -> None:
    """Copy status and result of these paths, which is all that changes in a version, to their vectors."""
    with connection.cursor() as cursor:
        cursor.execute(_COPY, [list(path_ids)])


def as_text(vector: bytes | np.ndarray) -> str | None:
    """A float32 vector as pgvector reads it; None for an empty one."""
    numbers = np.frombuffer(vector, dtype="<f4") if isinstance(vector, bytes) else vector
    return f"[{','.join(map(str, numbers.astype(np.float16).tolist()))}]" if len(numbers) else None


def from_binary(sent: bytes | memoryview) -> np.ndarray:
    """A float32 vector from what ``halfvec_send`` sends: length, a reserved word, big-endian float16."""
    return np.frombuffer(sent, dtype=">f2", offset=4).astype(np.float32)


def index_name(embedder: str, kind: str) -> str:
    """The name of the search index of one embedder's vectors; ``kind`` is goal or actions."""
    letters = re.sub("[^a-z0-9]", "_", embedder.lower())[:24]
    mark = hashlib.blake2b(embedder.encode(), digest_size=4).hexdigest()
    return f"pathvector_{letters}_{mark}_{kind}"


def index_statements(embedder: str, dims: int, *, concurrently: bool) -> list[str]:
    """What makes the search indexes of an embedder, where they are missing.

    ``concurrently`` lets writers go on meanwhile and must not run in a transaction. Raises ValueError for a
    name or size that no index can have.
    """
    if not 0 < dims <= MAX_INDEXED_DIMS:
        raise ValueError(f"vectors of {dims} numbers cannot be indexed, at most {MAX_INDEXED_DIMS}")
    literal = embedder.replace("'", "''")
    how = "CONCURRENTLY IF NOT EXISTS" if concurrently else "IF NOT EXISTS"
    return [
        f"CREATE INDEX {how} {index_name(embedder, kind)} ON {TABLE} "
        f"USING hnsw (({kind}::halfvec({dims})) halfvec_ip_ops) "
        f"WITH (m = 16, ef_construction = 64) WHERE embedder = '{literal}'"
        for kind in KINDS
    ]
