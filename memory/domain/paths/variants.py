"""Which paths one execution yields, and what each of them is worth."""

from collections.abc import Sequence

import msgspec

from memory.domain.paths.document import PathResult
from memory.domain.paths.folding import Point
from memory.domain.paths.runs import Run

RETRY_SHARE = 0.8
"""Of the task's reward, for a way that only worked after something failed: the straight one wins."""
UNKNOWN_REWARD = 0.1


class Standing(msgspec.Struct, frozen=True):
    """How a path ended, and its reward between 0 and 1."""

    result: PathResult
    reward: float


def walk_standing(run: Run, points: Sequence[Point]) -> Standing:
    """What the whole walk is: failing calls on the way to a success make it a retry."""
    ended = _ended(run)
    if ended.result == "success" and any(point.failure for point in points):
        return Standing("retry", ended.reward * RETRY_SHARE)
    return ended


def clean_standing(run: Run, points: Sequence[Point]) -> Standing | None:
    """What the way without its detours is; None where there is none to tell apart."""
    ended = _ended(run)
    working = [point for point in points if point.calls and point.failure is None]
    if ended.result != "success" or not working or not any(point.failure for point in points):
        return None
    return ended


def part_standing(whole: Standing, points: Sequence[Point]) -> Standing:
    """What a part of a walk is. Without a failure of its own, a part of a lost task is only pending."""
    failed = [point for point in points if point.failure]
    if failed and whole.result == "failure" and any(point.recovery is None for point in failed):
        return Standing("failure", 0.0)
    if whole.result not in ("success", "retry"):
        return Standing("pending", UNKNOWN_REWARD)
    if failed:
        return Standing("retry", min(whole.reward, RETRY_SHARE))
    return Standing("success", whole.reward if whole.result == "success" else whole.reward / RETRY_SHARE)


def tries_standing(points: Sequence[Point]) -> Standing:
    """What the tries at one tool are: the calls themselves say whether they worked in the end."""
    is_lost = any(point.failure and point.recovery is None for point in points)
    return Standing("failure", 0.0) if is_lost else Standing("retry", RETRY_SHARE)


def _ended(run: Run) -> Standing:
    """The task's own end. A reward of nothing is a failure where no result was said."""
    result = run.outcome
    if result == "unknown" and run.reward is not None:
        result = "success" if run.reward > 0 else "failure"
    if result == "unknown":
        return Standing("pending", UNKNOWN_REWARD)
    said = (1.0 if result == "success" else 0.0) if run.reward is None else run.reward
    return Standing("success" if result == "success" else "failure", min(1.0, max(0.0, said)))
