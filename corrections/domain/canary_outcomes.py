"""What became of an exposed task: whether it failed, and which guardrails it ran into. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

STOPPED = frozenset(("rejected", "cancelled"))
MIN_TIMED = 20
"""So many calls must have been timed before anybody can say what is slow."""
SLOW_SHARE = 0.95
"""A call is slow when it takes longer than this share of the tool's calls before the canary."""


@dataclass(frozen=True)
class MadeCall:
    """A call at or after the exposure. ``failed``: something was found wrong with it."""

    tool: str
    status: str = "ok"
    failed: bool = False
    duration_ms: float | None = None

    @property
    def is_stopped(self) -> bool:
        """Whether somebody refused it or broke it off."""
        return self.status in STOPPED

    @property
    def worked(self) -> bool:
        """Whether nothing is known to be wrong with it."""
        return not self.failed and self.status in ("ok", "unknown")


@dataclass(frozen=True)
class TaskFacts:
    """What is recorded of an exposed task.

    ``outcome`` is that of the root task. ``calls`` are those at or after the exposure, in order, without
    those that a correction itself stopped. ``tools`` are the tool that was asked about and the one it was
    switched to. ``contradicted``: a person said another outcome than the agent.
    """

    outcome: str
    is_final: bool
    tools: frozenset[str]
    calls: Sequence[MadeCall] = ()
    contradicted: bool = False
    slow_ms: float | None = None


@dataclass(frozen=True)
class Became:
    """The outcome of an exposed task and its guardrails; ``slow`` is None where no call was timed."""

    failed: bool
    tool_error: bool
    slow: bool | None
    retried: bool
    overridden: bool


def what_became(facts: TaskFacts) -> Became | None:
    """How the task ended; None while that is not known.

    A known outcome decides. A task that is over without one failed if a call of the exposed tool failed and
    no later call of it worked.
    """
    if facts.outcome in ("success", "failure"):
        failed = facts.outcome == "failure"
    elif facts.is_final:
        failed = _ended_in_failure(facts)
    else:
        return None
    calls = facts.calls
    return Became(
        failed=failed,
        tool_error=any(call.failed and not call.is_stopped for call in calls),
        slow=_slow(facts),
        retried=_retried(calls),
        overridden=facts.contradicted or any(call.is_stopped for call in calls),
    )


def _ended_in_failure(facts: TaskFacts) -> bool:
    failed = False
    for call in facts.calls:
        if call.tool in facts.tools:
            failed = call.failed or (failed and not call.worked)
    return failed


def _slow(facts: TaskFacts) -> bool | None:
    if facts.slow_ms is None:
        return None
    timed = [call.duration_ms for call in facts.calls if call.tool in facts.tools]
    known = [duration for duration in timed if duration is not None]
    return any(duration > facts.slow_ms for duration in known) if known else None


def _retried(calls: Sequence[MadeCall]) -> bool:
    failed: set[str] = set()
    for call in calls:
        if call.tool in failed:
            return True
        if call.failed:
            failed.add(call.tool)
    return False


def slow_limit(durations: Sequence[float]) -> float | None:
    """The duration above which a call counts as slow: the 95th percentile (nearest rank) of these, which are
    sorted; None for fewer than ``MIN_TIMED``."""
    if len(durations) < MIN_TIMED:
        return None
    return durations[ceil(SLOW_SHARE * len(durations)) - 1]
