"""A finished task as path building sees it: its calls in order, and what the analysis found wrong."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec


class RunFailure(msgspec.Struct, frozen=True):
    """What went wrong. ``template`` is the masked message, ``pattern`` the uuid of its error pattern."""

    message: str
    template: str = ""
    error_type: str = ""
    pattern: str = ""

    @property
    def short(self) -> str:
        """The masked message in one line, for a condition."""
        text = " ".join((self.template or self.message or self.error_type or "error").split())
        return text if len(text) <= 200 else text[:199] + "…"


class RunCall(msgspec.Struct, frozen=True):
    """A call. ``failure`` is None where the analysis found nothing wrong with it."""

    seq: int
    tool: str
    input: Mapping[str, Any] = {}
    output: Any = None
    failure: RunFailure | None = None
    step: int = 0
    duration_ms: float | None = None
    reasoning: str = ""
    reasoning_digest: str = ""
    happened_at: datetime | None = None


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A task that ended. ``thoughts`` are the agent's words by turn (``step``).

    ``outcome`` is success, failure or unknown; ``task_failure`` what the analysis says about the task as a
    whole. ``left_out`` calls after the ``head`` first ones were not loaded.
    """

    external_id: str
    calls: Sequence[RunCall]
    goal: str = ""
    tags: Sequence[str] = ()
    agent: str = ""
    env: Mapping[str, Any] = {}
    outcome: str = "unknown"
    reward: float | None = None
    note: str = ""
    task_failure: RunFailure | None = None
    thoughts: Mapping[int, str] = {}
    is_nested: bool = False
    head: int = 0
    left_out: int = 0
