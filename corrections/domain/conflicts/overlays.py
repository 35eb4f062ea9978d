"""Two calls laid over each other: often a call in which both rules fire, without asking a solver."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from corrections.domain.conflicts.questions import Setting

_MAX_TEXT = 2_000


def overlays(calls: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The calls as one, in a few ways: where both have a text, either of them, or one after the other."""
    for meet in (_last, _first, _one_after_the_other, _the_other_way_round):
        laid = calls[0]
        for call in calls[1:]:
            laid = _laid(laid, call, meet)
        yield laid


def in_setting(call: dict[str, Any], setting: Setting) -> dict[str, Any]:
    """The call moved to where all the rules apply."""
    tool = dict(call.get("tool") or {})
    if setting.tool:
        tool["name"] = setting.tool
    if setting.version:
        tool["version"] = setting.version
    task = dict(call.get("task") or {})
    if setting.tags:
        tags = task.get("tags") or []
        task["tags"] = [*tags, *(tag for tag in setting.tags if tag not in tags)]
    if setting.agent:
        task["agent"] = setting.agent
    moved = {**call, "point": setting.point}
    return moved | ({"tool": tool} if tool else {}) | ({"task": task} if task else {})


def _laid(one: Any, other: Any, meet: Callable[[Any, Any], Any]) -> Any:
    if isinstance(one, dict) and isinstance(other, dict):
        shared = {key: _laid(one[key], other[key], meet) for key in other if key in one}
        return {**one, **other, **shared}
    return one if one == other and type(one) is type(other) else meet(one, other)


def _last(_one: Any, other: Any) -> Any:
    return other


def _first(one: Any, _other: Any) -> Any:
    return one


def _one_after_the_other(one: Any, other: Any) -> Any:
    if isinstance(one, str) and isinstance(other, str):
        return f"{one} {other}"[:_MAX_TEXT]
    return [*one, *other] if isinstance(one, list) and isinstance(other, list) else other


def _the_other_way_round(one: Any, other: Any) -> Any:
    return _one_after_the_other(other, one)
