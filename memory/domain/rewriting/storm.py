"""The storm watch: a lineage that is rewritten again and again without getting anywhere.

Three signals, after the article on hierarchical graph memory: versions that grow fast, reasons that say the
same each time, and a number of nodes that jumps. Each alone is a storm. All thresholds are here.
"""

from collections.abc import Sequence

import msgspec

WINDOW_H = 24
"""Only what happened in the last so many hours counts, and nothing from before the last storm was closed."""

MAX_VERSIONS = 3
"""New versions within the window that are a storm."""

MAX_DRAFTS = 6
"""Drafted rewrites within the window that are a storm, whether or not anybody approved them."""

ALIKE = 0.9
MAX_ALIKE = 3
"""So many reasons within the window that resemble each other by ``ALIKE`` (Dice of character trigrams)."""

GROWTH = 2.0
JUMP = 10
"""A path that has ``GROWTH`` times the nodes of the one it was made from, and at least ``JUMP`` more."""

MAX_REASON = 500
_GRAM = 3


class StormFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What happened to one lineage within the window.

    ``versions``: versions made. ``reasons``: the reasons of the drafted rewrites, oldest first. ``sizes``:
    pairs of numbers of nodes (before, after) of the drafted rewrites.
    """

    versions: int = 0
    reasons: tuple[str, ...] = ()
    sizes: tuple[tuple[int, int], ...] = ()


class Signal(msgspec.Struct, frozen=True):
    """One signal: its number, the number from which on it is a storm, and the sentence for people.

    ``facts`` are the numbers in the sentence.
    """

    name: str
    value: float
    limit: float
    is_storm: bool
    said: str
    facts: dict[str, int] = {}


class Storm(msgspec.Struct, frozen=True, kw_only=True):
    """The three signals and what they come to. ``said`` is empty when there is no storm."""

    is_storm: bool
    said: str
    signals: tuple[Signal, ...]


def watch(facts: StormFacts) -> Storm:
    """Whether the lineage is in a storm, with the numbers."""
    signals = (_growth(facts), _alike(facts.reasons), _jump(facts.sizes))
    said = " ".join(signal.said for signal in signals if signal.is_storm)
    return Storm(is_storm=any(signal.is_storm for signal in signals), said=said, signals=signals)


def likeness(first: str, second: str) -> float:
    """How much two reasons resemble each other: Dice coefficient of character trigrams, 0 to 1, symmetric."""
    one, other = _grams(first), _grams(second)
    if not one or not other:
        return 0.0
    return 2 * len(one & other) / (len(one) + len(other))


def _growth(facts: StormFacts) -> Signal:
    drafts = len(facts.reasons)
    is_storm = facts.versions >= MAX_VERSIONS or drafts >= MAX_DRAFTS
    said = f"{facts.versions} new versions and {drafts} drafts in {WINDOW_H} hours."
    told = {"versions": facts.versions, "drafts": drafts, "hours": WINDOW_H}
    return Signal("versions", facts.versions, MAX_VERSIONS, is_storm, said, told)


def _alike(reasons: Sequence[str]) -> Signal:
    most = 0
    for reason in reasons:
        most = max(most, sum(likeness(reason, other) >= ALIKE for other in reasons))
    said = f"{most} reasons in {WINDOW_H} hours say nearly the same."
    told = {"count": most, "hours": WINDOW_H}
    return Signal("reasons", most, MAX_ALIKE, most >= MAX_ALIKE, said, told)


def _jump(sizes: Sequence[tuple[int, int]]) -> Signal:
    jumps = [(old, new) for old, new in sizes if new - old >= JUMP and new >= GROWTH * old]
    before, after = max(jumps or sizes, key=lambda pair: pair[1] - pair[0], default=(0, 0))
    said = f"A rewrite turned {before} nodes into {after}."
    return Signal(
        "nodes", max(0, after - before), JUMP, bool(jumps), said, {"before": before, "after": after}
    )


def _grams(text: str) -> frozenset[str]:
    plain = " ".join(text.casefold().split())[:MAX_REASON]
    if not plain:
        return frozenset()
    padded = f"  {plain} "
    return frozenset(padded[place : place + _GRAM] for place in range(len(padded) - _GRAM + 1))
