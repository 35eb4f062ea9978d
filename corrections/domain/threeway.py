"""Three documents side by side: what a change was written against, what is served now, what it says."""

from dataclasses import dataclass
from typing import Any

from corrections.domain.diff import ABSENT, in_reading_order

TOGETHER = ("action_type", "action_detail")
"""The detail belongs to its type: where types differ, both are taken from one side."""


@dataclass(frozen=True)
class Side:
    """One field that somebody changed. ``collides`` when both did, differently."""

    field: str
    base: Any
    theirs: Any
    mine: Any
    collides: bool

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; a field that is not there is null."""
        return {
            "field": self.field, "base": self.base, "theirs": self.theirs, "mine": self.mine,
            "collides": self.collides,
        }  # fmt: skip


def compare_three(base: dict[str, Any], theirs: dict[str, Any], mine: dict[str, Any]) -> list[Side]:
    """Every field that differs anywhere, in reading order, with dotted paths. Lists are compared whole."""
    found: list[Side] = []
    for name in in_reading_order(base.keys() | theirs.keys() | mine.keys()):
        found += _compare(name, base.get(name), theirs.get(name), mine.get(name))
    return found


def merge_mine(base: dict[str, Any], theirs: dict[str, Any], mine: dict[str, Any]) -> dict[str, Any]:
    """``theirs`` with what ``mine`` changed against ``base``; where both changed, mine is kept."""
    merged = _merge(base, theirs, mine)
    if len({str(side.get("action_type")) for side in (base, theirs, mine)}) > 1:
        taken = mine if any(mine.get(name) != base.get(name) for name in TOGETHER) else theirs
        merged |= {name: taken[name] for name in TOGETHER if name in taken}
    return dict(merged)


def _compare(path: str, base: Any, theirs: Any, mine: Any) -> list[Side]:
    if isinstance(base, dict) and isinstance(theirs, dict) and isinstance(mine, dict):
        names = [*mine, *(name for name in (*theirs, *base) if name not in mine)]
        return [
            side
            for name in dict.fromkeys(names)
            for side in _compare(f"{path}.{name}", base.get(name), theirs.get(name), mine.get(name))
        ]
    if _same(base, theirs) and _same(base, mine):
        return []
    collides = not (_same(base, theirs) or _same(base, mine) or _same(theirs, mine))
    return [Side(path, base, theirs, mine, collides)]


def _merge(base: dict[str, Any], theirs: dict[str, Any], mine: dict[str, Any]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for name in dict.fromkeys([*theirs, *mine]):
        old, now, wish = (side.get(name, ABSENT) for side in (base, theirs, mine))
        if isinstance(old, dict) and isinstance(now, dict) and isinstance(wish, dict):
            merged[name] = _merge(old, now, wish)
            continue
        value = now if _same(old, wish) else wish
        if value is not ABSENT:
            merged[name] = value
    return merged


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)
