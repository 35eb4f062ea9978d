"""Mending a composed argument word by word: the word that the error blames becomes what others put for it."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from memory.domain.paths.document import NodeDoc
from memory.domain.rewriting.align_edits import FailurePoint, Repair, place_of
from memory.domain.rewriting.align_shape import LEAST_LIKENESS, likeness, words_of
from memory.domain.rewriting.align_sources import MAX_TEXT

UNSURE = 1.0
_PIECE = re.compile(r"\w+|\s+|[^\w\s]")


class Rewording(NamedTuple):
    """An argument with one word for another, how sure that is (0 to 1), and from how many fixes."""

    name: str
    value: str
    word: str
    instead: str
    confidence: float
    times: int


def rewordings(node: NodeDoc, failure: FailurePoint, repairs: Sequence[Repair]) -> list[Rewording]:
    """What repairs of the same kind of failure suggest for the failing ``node``, the surest first.

    Only a word that the message says, that the argument has, and that a fix did without is replaced.
    """
    said, template = words_of(failure.message), failure.masked()
    same = [pair for repair in repairs if repair.failure.masked() == template for pair in _pair(repair, node)]
    found = [
        one
        for name, value in node.params.items()
        if isinstance(value, str)
        for word in sorted(said & words_of(value))
        for one in _for_word(name, value, word, same)
    ]
    return sorted(found, key=lambda one: -one.confidence)


class _Pair(NamedTuple):
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    said: frozenset[str]


def _pair(repair: Repair, node: NodeDoc) -> Iterator[_Pair]:
    """The arguments of a call that failed, and of the call most like it in the path that went well."""
    try:
        failing = repair.failed.nodes[place_of(repair.failed, repair.failure)]
    except KeyError:
        return
    calls = [other.params for other in repair.fixed.nodes if other.tool == node.tool]
    if failing.tool == node.tool and calls:
        nearest = max(calls, key=lambda params: _nearness(failing.params, params))
        yield _Pair(failing.params, nearest, words_of(repair.failure.message))


def _nearness(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    shared = one.keys() & other.keys()
    return sum(likeness(one[name], other[name]) for name in shared)


def _for_word(name: str, value: str, word: str, pairs: Sequence[_Pair]) -> Iterator[Rewording]:
    """Each fix counts as much as its failing argument has in common with this one; one that shows no single
    word instead counts against all. A word that fixes rather keep is not to blame."""
    weights: defaultdict[str, float] = defaultdict(float)
    times: Counter[str] = Counter()
    total = kept = 0.0
    for pair in pairs:
        before, after = pair.before.get(name), pair.after.get(name)
        if not isinstance(before, str) or not isinstance(after, str) or word not in pair.said:
            continue
        if word in words_of(before):
            weight = likeness(value, before)
            total += weight
            if word in words_of(after):
                kept += weight
            elif instead := _instead(before[:MAX_TEXT], after[:MAX_TEXT], word):
                weights[instead] += weight
                times[instead] += 1
    for instead, weight in weights.items():
        new = re.sub(rf"(?i)(?<!\w){re.escape(word)}(?!\w)", instead, value)
        if weight > kept and likeness(value, new) >= LEAST_LIKENESS:
            yield Rewording(name, new, word, instead, weight / (total + UNSURE), times[instead])


def _instead(before: str, after: str, word: str) -> str:
    """The single word that stands where ``word`` stood; empty where that is not plain."""
    old, new = _PIECE.findall(before), _PIECE.findall(after)
    folded = [piece.casefold() for piece in old], [piece.casefold() for piece in new]
    found = {
        new[new_start]
        for tag, start, end, new_start, new_end in SequenceMatcher(
            None, *folded, autojunk=False
        ).get_opcodes()
        if tag == "replace" and end - start == new_end - new_start == 1 and folded[0][start] == word
    }
    return found.pop() if len(found) == 1 and re.fullmatch(r"\w+", next(iter(found))) else ""
