"""What a counter is given of a finished task: one frozen snapshot, read once for all counters."""

from datetime import date, datetime
from typing import Any

import msgspec


class InsightFailure(msgspec.Struct, frozen=True):
    """One thing that was found wrong. ``seq`` is None where only the task as a whole failed.

    ``pattern`` is the id of its error pattern; ``source`` is explicit, validator or outcome; ``repeat`` says
    that an earlier task had met the pattern when it was found.
    """

    pattern: int
    pattern_uuid: str
    seq: int | None
    tool: str
    error_type: str
    source: str
    repeat: bool
    happened_at: datetime


class InsightCall(msgspec.Struct, frozen=True):
    """One call, in the task's order. ``input`` is as it was stored: a large one is a stand-in.

    ``status`` is what the sender said; ``patterns`` are the ids of what the analysis found wrong with it.
    ``at`` is when it began, where that is known, else when it was recorded.
    """

    seq: int
    tool: str
    input: dict[str, Any]
    status: str
    duration_ms: float | None
    at: datetime
    patterns: tuple[int, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether anything was wrong with it, explicit or silent."""
        return bool(self.patterns)


class InsightRun(msgspec.Struct, frozen=True):
    """A finished, analysed task. ``day`` is the UTC day on which it ended; ``domain`` is its ``env.domain``.

    ``outcome`` is success, failure or unknown. ``left_out`` counts the calls behind the first
    ``MAX_CALLS``, which are not read.
    """

    task_id: int
    task_uuid: str
    workspace_id: int
    external_id: str
    root_task: str
    goal: str
    tags: tuple[str, ...]
    agent: str
    domain: str
    outcome: str
    reward: float | None
    day: date
    ended_at: datetime
    calls: tuple[InsightCall, ...]
    failures: tuple[InsightFailure, ...]
    left_out: int = 0


MAX_CALLS = 1_000
"""Calls of a task that are read, from its beginning."""
MAX_MS = 1e11
"""A call is taken for at most about three years: sums of times stay numbers that can be taken apart again."""
