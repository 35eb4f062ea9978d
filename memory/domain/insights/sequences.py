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
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

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
Example = tuple[str, bool]
"""A task's uuid and whether it succeeded."""
NO_EXAMPLES = "[]"


class TaskShare(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one task adds: its uuid, whether it succeeded, its kinds, its steps."""

    task: str
    won: bool
    kinds: tuple[str, ...]
    steps: Tools


class Change(msgspec.Struct, gc=False):
    """What a batch of tasks does to one sequence, or to a kind as a whole: won and lost, added and removed.

    A batch has thousands: they share their tuples and are nothing to the garbage collector.
    """

    won: int = 0
    lost: int = 0
    won_gone: int = 0
    lost_gone: int = 0
    examples: tuple[Example, ...] = ()
    gone: tuple[Example, ...] = ()


class Count(NamedTuple):
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
    return digest_of(msgspec.json.encode(tools))


def digest_of(encoded: bytes) -> str:
    """The digest of a sequence's tools as JSON."""
    return hashlib.blake2b(encoded, digest_size=16).hexdigest()


def changes_of(
    removed: Iterable[Any], added: Iterable[Any]
) -> tuple[dict[str, Change], dict[tuple[str, Tools], Change]]:
    """What these tasks do to the kinds, and to the sequences of each kind."""
    kinds: dict[str, Change] = {}
    sequences: dict[tuple[str, Tools], Change] = {}
    for shares, note in ((removed, _take), (added, _add)):
        for raw in shares:
            share = _read(raw)
            if share is None:
                continue
            example, found = ((share.task, share.won),), sequences_of(share.steps)
            for kind in share.kinds:
                note(kinds.setdefault(kind, Change()), example)
                for tools in found:
                    note(sequences.setdefault((kind, tools), Change()), example)
    return kinds, sequences


def _read(raw: Any) -> TaskShare | None:
    """A stored share; None for one of another version, which was not counted here."""
    try:
        return msgspec.convert(raw, TaskShare)
    except msgspec.ValidationError:
        return None


def _add(change: Change, example: tuple[Example]) -> None:
    if example[0][1]:
        change.won += 1
    else:
        change.lost += 1
    change.examples = change.examples + example if change.examples else example


def _take(change: Change, example: tuple[Example]) -> None:
    if example[0][1]:
        change.won_gone += 1
    else:
        change.lost_gone += 1
    change.gone = change.gone + example if change.gone else example


def counted(before: Count, change: Change) -> Count:
    """The count after a batch.

    A task that is taken away may have been counted before the row was dropped. Where nothing is left to take
    away it was; else nobody can say, and both ends of the range go down by one, which holds either way.
    """
    won, short_won = _less(before.won, change.won_gone)
    lost, short_lost = _less(before.lost, change.lost_gone)
    missed, _ = _less(before.missed, short_won + short_lost)
    return Count(won + change.won, lost + change.lost, missed)


def _less(count: int, taken: int) -> tuple[int, int]:
    """What is left, and what could not be taken."""
    return max(0, count - taken), max(0, taken - count)


def without(whole: Count, parts: Iterable[Count]) -> Count:
    """What is left of a count when these are taken out of it; never below zero."""
    won, lost = whole.won, whole.lost
    for part in parts:
        won, lost = won - part.won, lost - part.lost
    return Count(max(0, won), max(0, lost))


def kept_examples(before: Sequence[Sequence[Any]], change: Change) -> list[Example]:
    """Some tasks that hold the sequence, won and lost, the ones known longest."""
    gone = {task for task, _ in change.gone}
    rows = [(str(task), bool(won)) for task, won in before if task not in gone]
    known = {task for task, _ in rows}
    rows += [(task, won) for task, won in dict.fromkeys(change.examples) if task not in known]
    won_rows = [row for row in rows if row[1]][:KEPT_WON]
    return won_rows + [row for row in rows if not row[1]][:KEPT_LOST]


def changed_examples(before: str, change: Change) -> str:
    """:func:`kept_examples` from and to JSON text; the same text where there is room for nothing new."""
    if before == NO_EXAMPLES:
        return _first_examples(change.examples)
    if not change.gone and before.count("true") >= KEPT_WON and before.count("false") >= KEPT_LOST:
        return before
    return msgspec.json.encode(kept_examples(msgspec.json.decode(before), change)).decode()


@lru_cache(maxsize=1_024)
def _first_examples(examples: tuple[Example, ...]) -> str:
    """Of sequences that are new: those of one task share their examples."""
    return msgspec.json.encode(kept_examples((), Change(examples=examples))).decode()


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
