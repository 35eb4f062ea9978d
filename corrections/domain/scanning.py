"""How a scan of many rules is cut: groups of rules that may meet, and where in them a scan goes on."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isqrt

from hgmem.rules import Rule


@dataclass(frozen=True)
class Place:
    """Where a scan goes on: the group, the row in it, and the units before the group."""

    group: int
    row: int
    before: int


def groups_of(rules: Sequence[Rule]) -> list[list[Rule]]:
    """For each tool that is named: its rules and the patterns that fit it; then the patterns by themselves.

    Two rules that can meet in a call are together in some group. The order depends only on the rules.
    """
    named: dict[str, list[Rule]] = {}
    patterns = []
    for rule in rules:
        if rule.applies_to.is_glob or rule.applies_to.any_tool:
            patterns.append(rule)
        else:
            named.setdefault(rule.applies_to.tool, []).append(rule)
    groups = [
        some + [rule for rule in patterns if rule.applies_to.fits_tool(tool)]
        for tool, some in sorted(named.items())
    ]
    return groups + [patterns] * bool(patterns)


def units(count: int) -> int:
    """The units of work in a group: every rule by itself, and every pair."""
    return count * (count + 1) // 2


def place_of(groups: Sequence[Sequence[Rule]], done: int) -> Place | None:
    """Where to go on after ``done`` units; None when nothing is left."""
    before = 0
    for index, group in enumerate(groups):
        if done < before + units(len(group)):
            return Place(index, (isqrt(8 * (done - before) + 1) - 1) // 2, before)
        before += units(len(group))
    return None


def dedupe_key(kind: str, field: str, sides: Sequence[tuple[str, int]], more: Sequence[str] = ()) -> str:
    """What makes a finding the same one when found again: kind, field, and rules with their versions."""
    parts = [kind, field, *(f"{uuid}:{version}" for uuid, version in sides), *more]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def neighbours_of(rule: Rule, others: Mapping[int, Rule]) -> list[Rule]:
    """The rules that may meet a rule in a call, as far as their tools tell."""
    return [other for other in others.values() if other.uuid != rule.uuid and _may_meet(rule, other)]


def _may_meet(rule: Rule, other: Rule) -> bool:
    mine, theirs = rule.applies_to, other.applies_to
    if mine.is_glob or mine.any_tool:
        return theirs.is_glob or theirs.any_tool or mine.fits_tool(theirs.tool)
    return theirs.fits_tool(mine.tool)
