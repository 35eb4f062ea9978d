"""The life of a demo's play, and what it counts. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from memory.domain.lifecycle import Transition, check_transition, statuses

PLAY_INITIAL = "stopped"
PLAY_TRANSITIONS: Mapping[str, Transition] = {
    "start": Transition(("stopped",), "running", "started"),
    "stop": Transition(("running",), "stopped", "stopped"),
    "finish": Transition(("running",), "finished", "finished"),
}
PLAY_STATES = statuses(PLAY_INITIAL, PLAY_TRANSITIONS)
WINDOW = 25
"""Walks that are counted together."""
MAX_NEWEST = 12
Window = list[int]
"""Walks, walks with a failure, failures, walks that were told something."""


def check_play(state: str, step: str) -> str:
    """The state after ``step``; raises :class:`memory.domain.lifecycle.TransitionError`."""
    return check_transition(PLAY_TRANSITIONS, step, state)


def count_walk(
    counts: Sequence[Sequence[Window]], *, pass_number: int, failures: int, was_told: bool
) -> list[list[Window]]:
    """The counts with one more walk of a pass (1 is the first)."""
    passes = [[list(window) for window in windows] for windows in counts]
    passes += [[] for _ in range(pass_number - len(passes))]
    windows = passes[pass_number - 1]
    if not windows or windows[-1][0] >= WINDOW:
        windows.append([0, 0, 0, 0])
    more = (1, int(failures > 0), failures, int(was_told))
    windows[-1] = [old + new for old, new in zip(windows[-1], more, strict=True)]
    return passes


def rates_of(counts: Sequence[Sequence[Window]]) -> list[list[dict[str, Any]]]:
    """For each pass its windows: first and last walk, failures in each 50 walks, and what was counted."""
    found = []
    for windows in counts:
        first, rows = 1, []
        for walks, failing, failures, told in windows:
            rows.append(
                {
                    "first": first, "last": first + walks - 1, "walks": walks, "failing": failing,
                    "failures": failures, "told": told,
                    "per_50": round(50 * failures / walks, 1) if walks else None,
                }
            )  # fmt: skip
            first += walks
        found.append(rows)
    return found
