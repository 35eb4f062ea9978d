"""What the scale benchmark compares with: exact numpy, and pgvector without anything around it."""

import time

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from memory.live.embedders import get_embedder
from memory.live.index import entry_name
from memory.models import PathEntry
from memory.writer.vectors import KINDS, TABLE, as_text, from_binary, index_name

TOP = 10


def goal_matrix(workspace_id: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Ids of the embedded paths, and their goals' vectors as rows."""
    name, dims = entry_name(get_embedder()), get_embedder().dims
    if connection.vendor != "postgresql":
        rows = PathEntry.objects.filter(workspace=workspace_id, embedder=name).values_list(
            "path_id", "goal_vector"
        )
        ids, vectors = zip(*rows.iterator(), strict=True)
        return np.array(ids), np.frombuffer(b"".join(vectors), dtype="<f4").reshape(-1, dims)
    ids, chunks = [], []
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT path_id, halfvec_send(goal) FROM {TABLE} WHERE workspace_id = %s AND embedder = %s",
            [workspace_id, name],
        )
        while rows := cursor.fetchmany(10_000):
            ids += [path_id for path_id, _ in rows]
            chunks.append(np.stack([from_binary(sent) for _, sent in rows]))
    return np.array(ids), np.concatenate(chunks)


def bare_pgvector(workspace_id: int, query: NDArray[np.float32]) -> tuple[float, set[int]]:
    """One ``ORDER BY ... LIMIT 10`` through the goals' index, by defaults: ms and what it found."""
    if connection.vendor != "postgresql":
        return 0.0, set()
    name, dims = entry_name(get_embedder()), get_embedder().dims
    began = time.perf_counter()
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT path_id FROM {TABLE} WHERE embedder = '{name}' AND workspace_id = %s "
            f"ORDER BY goal::halfvec({dims}) <#> %s::halfvec({dims}) LIMIT {TOP}",
            [workspace_id, as_text(query)],
        )
        found = {path_id for (path_id,) in cursor.fetchall()}
    return (time.perf_counter() - began) * 1000, found


def stored_mb() -> dict[str, float]:
    """MB on disk: the rows with vectors and, on PostgreSQL, each vector index."""
    if connection.vendor != "postgresql":
        return {"database": _sqlite_mb()}
    name = entry_name(get_embedder())
    relations = {"vectors": TABLE, **{f"{kind} index": index_name(name, kind) for kind in KINDS}}
    with connection.cursor() as cursor:
        sizes = {}
        for label, relation in relations.items():
            cursor.execute("SELECT pg_relation_size(%s)", [relation])
            sizes[label] = cursor.fetchone()[0] / 1e6
    return sizes


def _sqlite_mb() -> float:
    with connection.cursor() as cursor:
        cursor.execute("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
        return float(cursor.fetchone()[0]) / 1e6
