"""P3's questions: which runs answer which question, and questions that nothing answers."""

import gzip
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.streams import Run, StreamError, discover

QRELS, TASKS = "locate_qrels.jsonl", "spider_tasks.jsonl.gz"
NEGATIVES = 100


@dataclass(frozen=True)
class Question:
    """What is asked, by the place of its own run in the corpus; ``relevant`` are places of runs."""

    place: int
    relevant: frozenset[int]


@dataclass(frozen=True)
class Negative:
    """A question about a domain without runs; those that the corpus has are left out when it is asked."""

    goal: str
    domain: str


@dataclass(frozen=True)
class Corpus:
    """All runs of all streams, the questions about them, and how many different questions the runs answer."""

    runs: tuple[Run, ...]
    questions: tuple[Question, ...]
    asked: int
    negatives: tuple[Negative, ...]
    negatives_are_held_out: bool

    def excluded(self, question: Question) -> frozenset[int]:
        """The run that the question comes from, and every other run with the same goal text."""
        goal = _plain(self.runs[question.place].goal)
        return frozenset(place for place, run in enumerate(self.runs) if _plain(run.goal) == goal)


def load_corpus(folder: Path) -> Corpus:
    """Everything in ``folder``. Raises :class:`StreamError` when there are no runs or no questions.

    Task numbers count within a source (``path_id`` begins with it), which may be spread over several streams.
    """
    streams = discover(folder)
    if not (folder / QRELS).exists():
        raise StreamError(f"There is no {QRELS} in {folder}.")
    rows = _qrels(folder / QRELS)
    runs = [run for stream in streams for run in stream.runs]
    wanted = {task for row in rows for task in (row["query_task"], *row["relevant"])}
    spaces: dict[str, list[int]] = {}
    for place, run in enumerate(runs):
        spaces.setdefault(run.id.split(":")[0], []).append(place)
    named = max(spaces.values(), key=lambda space: len(wanted & {runs[at].task for at in space}), default=[])
    if not wanted & {runs[at].task for at in named}:
        raise StreamError(f"No stream in {folder} has the tasks that {QRELS} names.")
    by_task: dict[int | str | None, list[int]] = {}
    for place in named:
        by_task.setdefault(runs[place].task, []).append(place)
    ours = {runs[place].domain for place in named}
    questions = _questions(rows, by_task, runs)
    negatives, held_out = _negatives(folder, runs, ours)
    return Corpus(tuple(runs), tuple(questions), len(by_task), tuple(negatives), held_out)


def _qrels(path: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    for number, row in enumerate(rows, start=1):
        if "query_task" not in row or not isinstance(row.get("relevant"), list):
            raise StreamError(f"{path.name}, line {number}: query_task and a list relevant are expected.")
    return rows


def _questions(
    rows: Iterable[dict[str, Any]], by_task: dict[int | str | None, list[int]], runs: Sequence[Run]
) -> list[Question]:
    found = []
    for row in rows:
        right = frozenset(
            place for task in row["relevant"] for place in by_task.get(task, []) if runs[place].success
        )
        own = by_task.get(row["query_task"])
        if own and right:
            found.append(Question(own[0], right))
    return found


def _negatives(folder: Path, runs: Sequence[Run], ours: set[str]) -> tuple[list[Negative], bool]:
    """Questions of domains without runs where there are some, else as many of each domain, held out.

    A held-out question whose right query is word for word that of another domain is none: its runs answer it.
    """
    known = {run.domain for run in runs}
    tasks = list(_tasks(folder))
    foreign = [Negative(task["query"], task["db"]) for task in tasks if task["db"] not in known]
    rng = random.Random(7)
    if len(foreign) >= NEGATIVES:
        return rng.sample(foreign, NEGATIVES), False
    domains: dict[str, set[str]] = {}
    for task in tasks:
        domains.setdefault(_plain(task["gold"]), set()).add(task["db"])
    shared = {_plain(task["query"]) for task in tasks if len(domains[_plain(task["gold"])]) > 1}
    each = -(-NEGATIVES // max(len(ours), 1))
    chosen: list[Negative] = []
    for domain in sorted(ours):
        goals = sorted({run.goal for run in runs if run.domain == domain and _plain(run.goal) not in shared})
        chosen += [Negative(goal, domain) for goal in rng.sample(goals, min(each, len(goals)))]
    return rng.sample(chosen, min(NEGATIVES, len(chosen))), True


def _tasks(folder: Path) -> Iterator[dict[str, Any]]:
    if not (folder / TASKS).exists():
        return
    with gzip.open(folder / TASKS, "rt", encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def _plain(goal: str) -> str:
    return " ".join(goal.casefold().split())
