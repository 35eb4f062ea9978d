"""Segmentation: where a sub-goal starts and ends, and where one tool needed several tries.

Nothing here knows a tool. A new sub-goal starts where at least two of three signs come together: a new turn
(the agent thinks anew, or turns of several calls each divide the run), tools of another family, inputs about
something not seen in this part so far.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from memory.domain.paths.folding import READING, Point, tool_words
from memory.domain.paths.sizes import SHORT, cut_text

MIN_POINTS = 4
MIN_PART = 2
MAX_PARTS = 12
SIGNS = 2
CALLS_A_TURN = 1.5
"""Calls a turn, on average, from which the turns themselves divide a run."""

_SENTENCE = re.compile(r"^(.+?[.!?。！？])(?:\s|$|(?<=[。！？]))", re.DOTALL)
_VERBS = READING | frozenset(
    (
        *("add", "book", "call", "cancel", "change", "close", "create", "delete", "do", "edit", "execute"),
        *("make", "open", "post", "put", "remove", "run", "send", "set", "start", "stop", "submit", "update"),
        *("use", "write", "by", "for", "from", "in", "of", "on", "the", "to", "with"),
    )
)


class Segment(msgspec.Struct, frozen=True):
    """Points ``first`` to ``last`` serve one goal; its text is "" where nobody said it."""

    first: int
    last: int
    goal: str = ""


def find_subtasks(points: Sequence[Point], thoughts: Mapping[int, str]) -> list[Segment]:
    """The parts of a walk that serve one sub-goal each, covering all of it; none where there is only one.

    A failure is never parted from the call that made up for it.
    """
    if len(points) < MIN_POINTS:
        return []
    starts = [0]
    has_turns = _has_turns(points)
    for place in range(1, len(points)):
        long_enough = place - starts[-1] >= MIN_PART and len(points) - place >= MIN_PART
        if not long_enough or len(starts) == MAX_PARTS or _is_inside_detour(points, place):
            continue
        if _count_signs(points, starts[-1], place, thoughts, has_turns=has_turns) >= SIGNS:
            starts.append(place)
    if len(starts) == 1:
        return []
    ends = [start - 1 for start in starts[1:]] + [len(points) - 1]
    return [
        Segment(first, last, _said_goal(points[first : last + 1], thoughts))
        for first, last in zip(starts, ends, strict=True)
    ]


def find_tries(points: Sequence[Point]) -> list[Segment]:
    """Where one tool was tried more than once, with everything that was done in between."""
    found: list[Segment] = []
    for place, point in enumerate(points):
        if point.failure is None or (point.again is None and len(point.calls) == 1):
            continue
        last = point.recovery or point.again or place
        if found and place <= found[-1].last:
            found[-1] = msgspec.structs.replace(found[-1], last=max(last, found[-1].last))
        else:
            found.append(Segment(place, last, f"{point.shown.tool}: {point.failure.short}"))
    return found


def name_goal(points: Sequence[Point]) -> str:
    """What a part without a said goal is about: its tools, in words."""
    tools = dict.fromkeys(point.shown.tool for point in points if point.calls)
    return cut_text(", ".join(" ".join(tool_words(tool)) or tool for tool in tools), SHORT)


def _is_inside_detour(points: Sequence[Point], place: int) -> bool:
    return any(index < place <= (point.recovery or point.again or 0) for index, point in enumerate(points))


def _has_turns(points: Sequence[Point]) -> bool:
    calls = [call for point in points for call in point.calls]
    return len(calls) >= CALLS_A_TURN * len({call.step for call in calls})


def _count_signs(
    points: Sequence[Point], start: int, place: int, thoughts: Mapping[int, str], *, has_turns: bool
) -> int:
    before, point = points[start:place], points[place]
    if not point.calls or not before[-1].calls:
        return 0
    first = point.calls[0]
    thinks = has_turns or bool(thoughts.get(first.step) or first.reasoning)
    is_new_turn = first.step != before[-1].shown.step and thinks
    changes = not _is_same_family(before, point)
    seen = {value for item in before for call in item.calls for value in _values((call.input, call.output))}
    about = set(_values(first.input))
    return is_new_turn + changes + bool(about and about.isdisjoint(seen))


def _is_same_family(before: Sequence[Point], point: Point) -> bool:
    """Whether the tool shares a namespace or a subject with one of those before."""
    name = point.shown.tool
    words = set(tool_words(name)) - _VERBS
    for item in before:
        other = item.shown.tool if item.calls else ""
        if other == name or (words and not words.isdisjoint(set(tool_words(other)) - _VERBS)):
            return True
    return False


def _values(value: Any) -> Iterator[str]:
    """What an input or an answer is about: its texts, and numbers of two digits or more."""
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _values(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _values(inner)
    elif isinstance(value, str):
        yield from (word for word in re.findall(r"\w+", value.lower()) if len(word) > 2)
    elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) >= 10:
        yield str(value)


def _said_goal(points: Sequence[Point], thoughts: Mapping[int, str]) -> str:
    """The first sentence that the agent thought in this part."""
    for point in points:
        for call in point.calls:
            text = (call.reasoning or thoughts.get(call.step, "")).strip()
            if text:
                sentence = _SENTENCE.match(text)
                return cut_text(" ".join((sentence.group(1) if sentence else text).split()), SHORT)
    return ""
