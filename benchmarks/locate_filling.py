"""Fills a workspace with paths for the scale benchmark.

``distinct`` runs are made into paths by the product itself: document, entry, vectors, nodes and edges. Then
the rows are copied inside the database, as further attempts at the same goals, until there are enough. On
PostgreSQL the copies' vectors are moved a little (:data:`NUDGE`), so that its index is not filled with equal
points; on SQLite, where every vector is compared anyway, they stay as they are.
"""

import time
from collections.abc import Callable, Iterable
from itertools import islice

import numpy as np
from django.db import connection, transaction
from django.db.models import Max, Model
from django.utils import timezone

from benchmarks.locate_workload import Run, make_runs
from memory.domain.paths.document import NodeDoc, PathDoc, chain
from memory.domain.paths.keys import lineage_key
from memory.live.embedders import Embedder, get_embedder
from memory.live.index import draft_entries, entry_name
from memory.live.index.question import Vector
from memory.models import Lineage, Path, PathEdge, PathEntry, PathNode, Workspace
from memory.writer.paths import NewPath, store_paths
from memory.writer.vectors import (
    COPIES,
    KINDS,
    TABLE,
    as_text,
    from_binary,
    index_name,
    index_statements,
)

BATCH = 500
NUDGE = 0.3
"""Length of the random step to a copy's vector, before it is scaled to length 1: a cosine of about .96."""

BUILD_MEMORY = "3GB"
COPIED: tuple[type[Model], ...] = (Lineage, Path, PathNode, PathEdge, PathEntry)


def make_document(run: Run) -> PathDoc:
    """A synthetic run as the product's path document."""
    names = [f"{place}-{tool}" for place, (tool, _) in enumerate(run.steps)]
    nodes = tuple(
        NodeDoc(name=name, tool=tool, params=params)
        for name, (tool, params) in zip(names, run.steps, strict=True)
    )
    return PathDoc(
        goal=run.goal, nodes=nodes, edges=chain(names), tags=run.tags, result=run.result, reward=run.reward,
        agent=run.agent,
    )  # fmt: skip


def fill(workspace: Workspace, count: int, distinct: int, advance: Callable[[int], None]) -> float:
    """Give an empty workspace ``count`` paths; how many seconds the vector indexes took to build."""
    on_postgres = connection.vendor == "postgresql"
    embedder = get_embedder()
    if on_postgres:
        _execute(f"DROP INDEX IF EXISTS {index_name(entry_name(embedder), kind)}" for kind in KINDS)
    distinct = min(distinct, count)
    first = _last(Path) + 1
    _store(workspace, distinct, advance)
    stride = max(_last(model) for model in COPIED) + 1
    for turn in range(1, -(-count // distinct)):
        wanted = min(distinct, count - turn * distinct)
        _copy_rows(first, first + wanted, turn * stride)
        if on_postgres:
            _copy_vectors(first, first + wanted, turn * stride)
        advance(wanted)
    return _build_indexes(embedder) if on_postgres else 0.0


def _store(workspace: Workspace, count: int, advance: Callable[[int], None]) -> None:
    runs = make_runs(count)
    number = 0
    while docs := [make_document(run) for run in islice(runs, BATCH)]:
        drafts = draft_entries(docs)
        keys = [lineage_key("path", f"bench-{number + place}") for place in range(len(docs))]
        items = [
            NewPath(lineage_key=key, doc=doc, origin="run", drafts=drafts)
            for key, doc in zip(keys, docs, strict=True)
        ]
        with transaction.atomic():
            store_paths(workspace.pk, items, now=timezone.now())
        number += len(docs)
        advance(len(docs))


def _copy_rows(first: int, end: int, shift: int) -> None:
    """The rows of the paths from ``first`` up to ``end`` once more, under other ids."""
    new_uuid = "gen_random_uuid()" if connection.vendor == "postgresql" else "lower(hex(randomblob(16)))"
    paths = f"SELECT id FROM memory_path WHERE id >= {first} AND id < {end}"
    with transaction.atomic():
        if connection.vendor == "postgresql":
            _execute(["SET LOCAL session_replication_role = replica"])  # copies of rows that were checked
        for model in COPIED:
            table, names = model._meta.db_table, [str(field.column) for field in model._meta.concrete_fields]
            values = [_copied(name, shift, new_uuid) for name in names]
            if model is Lineage:
                which = f"id IN (SELECT lineage_id FROM memory_path WHERE id >= {first} AND id < {end})"
            else:
                which = f"{'id' if model is Path else 'path_id'} IN ({paths})"
            columns = ", ".join(names)
            _execute(
                [f"INSERT INTO {table} ({columns}) SELECT {', '.join(values)} FROM {table} WHERE {which}"]
            )


def _copied(name: str, shift: int, new_uuid: str) -> str:
    if name in ("id", "lineage_id", "path_id", "source_id", "target_id"):
        return f"{name} + {shift}"
    if name == "uuid":
        return new_uuid
    return f"key || ' {shift}'" if name == "key" else name


def _copy_vectors(first: int, end: int, shift: int) -> None:
    chooses = np.random.default_rng(shift)
    columns = f"path_id, workspace_id, embedder, goal, actions, {COPIES}"
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT path_id, workspace_id, embedder, halfvec_send(goal), halfvec_send(actions), {COPIES} "
            f"FROM {TABLE} WHERE path_id >= {first} AND path_id < {end}"
        )
        rows = cursor.fetchall()
        with cursor.copy(f"COPY {TABLE} ({columns}) FROM STDIN") as copy:
            for path_id, home, embedder, goal, actions, *rest in rows:
                moved = [as_text(_nudge(from_binary(vector), chooses)) for vector in (goal, actions)]
                copy.write_row((path_id + shift, home, embedder, *moved, *rest))


def _nudge(vector: Vector, chooses: np.random.Generator) -> Vector:
    step = chooses.standard_normal(len(vector), dtype=np.float32)
    moved = vector + NUDGE * step / np.linalg.norm(step)
    return np.asarray(moved / np.linalg.norm(moved), dtype=np.float32)


def _build_indexes(embedder: Embedder) -> float:
    began = time.perf_counter()
    _execute([f"SET maintenance_work_mem = '{BUILD_MEMORY}'"])
    _execute(index_statements(entry_name(embedder), embedder.dims, concurrently=False))
    _execute(["RESET maintenance_work_mem"])
    took = time.perf_counter() - began
    _execute(["VACUUM ANALYZE"])
    return took


def _last(model: type[Model]) -> int:
    return int(model.objects.aggregate(last=Max("pk"))["last"] or 0)


def _execute(statements: Iterable[str]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
