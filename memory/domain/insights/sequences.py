"""Tool sequences of tasks, counted so that a task can be taken out again.

A sequence is a run of 2 to 5 consecutive tools. A tool called several times in a row counts as one step:
how often somebody tried is a matter of retries, not of the way taken. A task counts once for a sequence,
however often it holds it, and only when it is known how the task ended.

Many sequences are met once and never again, so a workspace keeps a bounded number. What is dropped leaves a
bound behind (as in the space-saving counter, Metwally et al. 2005): a sequence that comes back afterwards may
have been in up to ``missed`` more tasks than its row counts. While nothing was dropped every count is exact.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import msgspec

from memory.domain.insights.runs import InsightRun

NAME = "sequences"
SHORTEST, LONGEST = 2, 5
MOST_STEPS = 200
"""So many steps of a task are read; the way to a goal is rarely longer."""
MOST_BYTES = 16_000
"""And as many as their names fit into this together."""
MOST_TAGS = 3
MAX_WORD = 200
LEAST_TASKS = 5
"""A sequence in fewer tasks is not judged."""
FALSE_SHARE = 0.05
"""Of the verdicts, so many are expected to be chance (Benjamini and Hochberg 1995)."""
KEPT_WON, KEPT_LOST = 6, 4
"""Example tasks kept of each sequence."""

Tools = tuple[str, ...]


class TaskShare(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one task adds: its uuid, whether it succeeded, its kinds, its steps."""

    task: str
    won: bool
    kinds: tuple[str, ...]
    steps: Tools


@dataclass
class Change:
    """What a batch of tasks does to one sequence, or to a kind as a whole."""

    added: list[int] = field(default_factory=lambda: [0, 0])
    removed: list[int] = field(default_factory=lambda: [0, 0])
    examples: list[tuple[str, bool]] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Count:
    """Tasks with a sequence that succeeded and failed. In truth up to ``missed`` more of them held it."""

    won: int = 0
    lost: int = 0
    missed: int = 0

    @property
    def tasks(self) -> int:
        """All of them."""
        return self.won + self.lost


def contribute(run: InsightRun) -> Any:
    """What the counter keeps of a task, as JSON; None for one that says nothing about sequences."""
    if run.outcome not in ("success", "failure"):
        return None
    steps = steps_of(call.tool for call in run.calls)
    share = TaskShare(run.task_uuid, run.outcome == "success", kinds_of(run.tags, run.domain), steps)
    return msgspec.to_builtins(share)


def kinds_of(tags: Sequence[str], domain: str) -> tuple[str, ...]:
    """The kinds a task belongs to: all tasks (""), its domain, its first tags."""
    words = [f"domain:{domain[:MAX_WORD]}"] if domain else []
    words += [f"tag:{tag[:MAX_WORD]}" for tag in dict.fromkeys(tags) if tag]
    return ("", *words[: MOST_TAGS + bool(domain)])


def steps_of(tools: Iterable[str]) -> Tools:
    """The tools in order, each run of one tool as one step; the beginning of a task with very many."""
    steps: list[str] = []
    room = MOST_BYTES
    for tool, _ in groupby(tools):
        room -= len(tool.encode())
        if room < 0 or len(steps) == MOST_STEPS:
            break
        steps.append(tool)
    return tuple(steps)


def sequences_of(steps: Tools) -> list[Tools]:
    """Every run of 2 to 5 steps, each once, in order."""
    found = {
        steps[start : start + length]: None
        for length in range(SHORTEST, LONGEST + 1)
        for start in range(len(steps) - length + 1)
    }
    return list(found)


def sequence_digest(tools: Tools) -> str:
    """32 hex digits that name a sequence."""
    return hashlib.blake2b(msgspec.json.encode(tools), digest_size=16).hexdigest()


def changes_of(
    removed: Iterable[Any], added: Iterable[Any]
) -> tuple[dict[str, Change], dict[tuple[str, Tools], Change]]:
    """What these tasks do to the kinds, and to the sequences of each kind."""
    kinds: dict[str, Change] = {}
    sequences: dict[tuple[str, Tools], Change] = {}
    for shares, is_new in ((removed, False), (added, True)):
        for raw in shares:
            share = _read(raw)
            if share is None:
                continue
            found = sequences_of(share.steps)
            for kind in share.kinds:
                _note(kinds.setdefault(kind, Change()), share, is_new)
                for tools in found:
                    _note(sequences.setdefault((kind, tools), Change()), share, is_new)
    return kinds, sequences


def _read(raw: Any) -> TaskShare | None:
    """A stored share; None for one of another version, which was not counted here."""
    try:
        return msgspec.convert(raw, TaskShare)
    except msgspec.ValidationError:
        return None


def _note(change: Change, share: TaskShare, is_new: bool) -> None:
    place = 0 if share.won else 1
    if is_new:
        change.added[place] += 1
        change.examples.append((share.task, share.won))
    else:
        change.removed[place] += 1
        change.gone.add(share.task)


def counted(before: Count, change: Change) -> Count:
    """The count after a batch.

    A task that is taken away may have been counted before the row was dropped. Where nothing is left to take
    away it was; else nobody can say, and both ends of the range go down by one, which holds either way.
    """
    won, short_won = _less(before.won, change.removed[0])
    lost, short_lost = _less(before.lost, change.removed[1])
    missed, _ = _less(before.missed, short_won + short_lost)
    return Count(won + change.added[0], lost + change.added[1], missed)


def _less(count: int, taken: int) -> tuple[int, int]:
    """What is left, and what could not be taken."""
    return max(0, count - taken), max(0, taken - count)


def without(whole: Count, parts: Iterable[Count]) -> Count:
    """What is left of a count when these are taken out of it; never below zero."""
    won, lost = whole.won, whole.lost
    for part in parts:
        won, lost = won - part.won, lost - part.lost
    return Count(max(0, won), max(0, lost))


def kept_examples(before: Sequence[Sequence[Any]], change: Change) -> list[tuple[str, bool]]:
    """Some tasks that hold the sequence, won and lost, the ones known longest."""
    rows = [(str(task), bool(won)) for task, won in before if task not in change.gone]
    known = {task for task, _ in rows}
    rows += [(task, won) for task, won in dict.fromkeys(change.examples) if task not in known]
    won_rows = [row for row in rows if row[1]][:KEPT_WON]
    return won_rows + [row for row in rows if not row[1]][:KEPT_LOST]


def split_kind(kind: str) -> tuple[str, str]:
    """What sort of kind it is ("", ``domain``, ``tag``) and which one."""
    sort, _, word = kind.partition(":")
    return sort, word


def dropped_bounds(rows: Iterable[tuple[int, int]]) -> Mapping[int, int]:
    """By kind, in how many tasks a dropped sequence may have been at most; rows are (kind, upper count)."""
    bounds: dict[int, int] = {}
    for kind, most in rows:
        bounds[kind] = max(bounds.get(kind, 0), most)
    return bounds
