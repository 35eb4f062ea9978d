"""Folding: from calls to decision points.

Tries of the same call that failed one after another are one point, and so is the same look repeated. What a
failure led to in the end is found here too: the later call of the same tool, much like the failed one, that
worked.
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from memory.domain.paths.runs import RunCall, RunFailure

LOOK_AHEAD = 12
"""So many points after a failure a working call still counts as the same attempt."""
ALIKE = 0.32
"""Jaccard similarity of the words of two inputs from which one is another try of the other."""
SUBSTANTIAL = 40
"""Characters of an answer from which getting it twice to the same question means that nothing was done."""
READING = frozenset(
    (
        *("check", "count", "describe", "fetch", "find", "get", "inspect", "list", "look", "lookup", "ls"),
        *("peek", "poll", "query", "read", "retrieve", "search", "show", "status", "view", "wait", "watch"),
    )
)

_WORDS = re.compile(r"[a-z0-9_]+|[^\W\x00-\x7f]")
_NAME_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_encode = msgspec.json.Encoder(order="deterministic", enc_hook=str).encode


class Point(msgspec.Struct):
    """One decision point: the calls folded into it, the last of which is what it shows.

    For a failed one, ``again`` is the index of the next point that tries the same call, ``recovery`` of the
    first one that made it work. A point without calls stands for ``left_out`` calls that are not shown.
    """

    calls: list[RunCall] = []
    again: int | None = None
    recovery: int | None = None
    left_out: int = 0

    @property
    def shown(self) -> RunCall:
        """The call that the point shows."""
        return self.calls[-1]

    @property
    def failure(self) -> RunFailure | None:
        """What is wrong with it, if anything."""
        return self.calls[-1].failure if self.calls else None


def fold(calls: Sequence[RunCall]) -> list[Point]:
    """The decision points of calls, in order. Every call is in exactly one of them."""
    points: list[Point] = []
    for call in calls:
        if points and _belongs(points[-1].shown, call):
            points[-1].calls.append(call)
        else:
            points.append(Point([call]))
    return points


def find_recoveries(points: Sequence[Point]) -> None:
    """Set ``again`` and ``recovery`` of every failed point."""
    for place, point in enumerate(points):
        point.again = point.recovery = None
        if point.failure is not None:
            ahead = range(place + 1, min(len(points), place + 1 + LOOK_AHEAD))
            tries = [at for at in ahead if points[at].calls and is_retry(point.shown, points[at].calls[0])]
            point.again = next(iter(tries), None)
            point.recovery = next((at for at in tries if points[at].failure is None), None)


def is_retry(earlier: RunCall, later: RunCall) -> bool:
    """Whether the later call tries what the earlier one tried: the same tool with a similar input."""
    if earlier.tool != later.tool:
        return False
    one, other = _words(earlier.input), _words(later.input)
    if not one or not other:
        return True
    return len(one & other) / len(one | other) >= ALIKE


def is_reading(tool: str) -> bool:
    """Whether a tool's name says that it only looks: calling it twice changes nothing."""
    words = tool_words(tool)
    return bool(words) and not READING.isdisjoint(words[:2])


def tool_words(tool: str) -> list[str]:
    """The words of a tool's name, without its namespace, in lower case."""
    last = re.split(r"[./:]|__", tool)[-1]
    return [word.lower() for word in _NAME_WORDS.findall(last)]


def _belongs(earlier: RunCall, later: RunCall) -> bool:
    """Whether a call is more of the same as the one right before it."""
    if (earlier.failure is None) != (later.failure is None):
        return False
    if earlier.failure is not None:
        return is_retry(earlier, later)
    if earlier.tool != later.tool or earlier.input != later.input:
        return False
    return is_reading(later.tool) or _said_the_same(earlier.output, later.output)


def _said_the_same(one: Any, other: Any) -> bool:
    return bool(one == other and one is not None and len(_encode(one)) >= SUBSTANTIAL)


def _words(value: Any) -> set[str]:
    return set(_WORDS.findall(_encode(value).decode().lower())) if value else set()
