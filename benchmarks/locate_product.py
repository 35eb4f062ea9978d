"""HGMem's own localization in this process: runs recorded, analysed, built into paths, indexed, located."""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.streams import Run

BATCH = 50
TOP = 20


@dataclass(frozen=True)
class Located:
    """Places of runs in the corpus, best first, with their scores; how many passed as the product answers."""

    places: tuple[int, ...]
    scores: tuple[float, ...]
    likenesses: tuple[tuple[int, float], ...]
    passed: bool
    seconds: float


class Memory:
    """One workspace that holds the corpus, searched with one embedder."""

    def __init__(self, embedder: str, runs: Sequence[Run]) -> None:
        from django.conf import settings

        from memory.actions.accounts import create_workspace
        from memory.domain.access import Actor, Scope
        from memory.permissions import SYSTEM

        settings.EMBEDDER = embedder
        self.embedder = embedder
        workspace = create_workspace(slug=f"locate-{embedder}", name=embedder, owner=None, by=SYSTEM)
        self._workspace_id = workspace.pk
        self._agent = Actor("key", "agent", workspace.pk, scopes=frozenset({Scope.EXPERIENCE_WRITE}))
        self._runs = runs
        self._places: dict[int, int] = {}

    def learn(self, advance: Any) -> None:
        """Record every run in order, and do what the worker does."""
        from memory.actions.record import record_experience
        from memory.background.analyse import analyse_backlog
        from memory.background.paths import build_backlog

        for start in range(0, len(self._runs), BATCH):
            batch = self._runs[start : start + BATCH]
            documents = [_document(place, run) for place, run in enumerate(batch, start)]
            results = record_experience(workspace_id=self._workspace_id, documents=documents, by=self._agent)
            refused = [result for result in results if result.status not in {"created", "updated"}]
            if refused:
                raise RuntimeError(f"A run was refused: {refused[0]}")
            while analyse_backlog(deadline_s=60.0):
                pass
            while build_backlog(deadline_s=600.0):
                pass
            advance(len(batch))
        self._read_places()

    @property
    def paths(self) -> int:
        """Whole paths in the index."""
        return len(self._places)

    def locate(self, goal: str, *, without: Collection[int]) -> Located:
        """Ask the product, as if the runs ``without`` had never been recorded."""
        from memory.domain.locating.ranking import rank
        from memory.domain.locating.shapes import MIN_SCORE, Query
        from memory.live.index.candidates import LIMIT, embed_question, find_candidates
        from memory.live.index.question import Filters

        started = time.perf_counter()
        asked = embed_question(self._workspace_id, goal)
        hidden = sum(place in without for place in self._places.values())
        candidates = find_candidates(
            workspace_id=self._workspace_id,
            asked=asked,
            tags=(),
            filters=Filters(levels=("task",)),
            limit=LIMIT + hidden,
        )
        left = [one for one in candidates if self._places.get(one.id, -1) not in {-1, *without}]
        if hidden:  # about as many as the index would return if the hidden paths were not there
            left = sorted(left, key=lambda one: -one.nearness)[: 2 * LIMIT]
        answer = rank(Query(goal, top_k=TOP, min_score=0.0, vector=asked.vector), left)
        seconds = time.perf_counter() - started
        real = sorted((*answer.found, *answer.rest), key=lambda one: -one.likeness)
        return Located(
            places=tuple(self._places[one.id] for one in answer.found),
            scores=tuple(one.score for one in answer.found),
            likenesses=tuple((self._places[one.id], one.likeness) for one in real),
            passed=bool(answer.found) and answer.found[0].score >= MIN_SCORE,
            seconds=seconds,
        )

    def _read_places(self) -> None:
        from memory.models import Path

        rows = Path.objects.whole().active().filter(workspace_id=self._workspace_id, source__isnull=False)
        for path_id, name in rows.values_list("pk", "source__external_id"):
            self._places[path_id] = int(name.removeprefix("run-"))


def _document(place: int, run: Run) -> dict[str, Any]:
    outcome: dict[str, Any] = {"by": "evaluator", "result": "unknown"}
    if run.success is not None:
        outcome["result"] = "success" if run.success else "failure"
    if run.reward is not None:
        outcome["reward"] = run.reward
    return {
        "external_id": f"run-{place}",
        "goal": run.goal,
        "agent": run.model,
        "env": {"domain": run.domain},
        "final": True,
        "outcome": outcome,
        "calls": [_call(seq, call) for seq, call in enumerate(run.calls)],
    }


def _call(seq: int, call: Any) -> dict[str, Any]:
    document = {"tool": call.tool, "input": call.args, "output": call.obs, "seq": seq, "status": "ok"}
    if call.failed:
        error = call.obs if isinstance(call.obs, str) else repr(call.obs)
        return document | {"status": "error", "error": error}
    return document
