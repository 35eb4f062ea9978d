"""What a later working call of a run says about the words of the one that failed.

Texts are compared word by word; what stands at the same place in both is a *swap*. Nothing here knows a
language: a dotted name is one word, a quoted text is one piece and is never a word to replace.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from corrections.domain.inducing.edits import Edit
from corrections.domain.inducing.features import MAX_DEPTH, MAX_TEXT, REDACTED, Atom, Place, is_long_text

MIN_LIKENESS = 0.3
"""Share of words in common below which a later call is another thought, no repair."""
NEAR = 0.7
"""Likeness of two names from which on one run is enough, ``cities`` and ``city``; others need a second."""
MAX_PIECES = 600
MAX_LATER = 30
_PIECE = re.compile(r"\w+(?:\.\w+)*|'[^'\n]*'|\"[^\"\n]*\"|[^\w\s]")
_WORD = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*\Z")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class Swap(NamedTuple):
    """A word of a text (in small letters) and the one that stands in its place."""

    place: Place
    old: str
    new: str


def best_fix(failed: Mapping[str, Any], later: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The later working input that repairs the failing one: the most like it where texts tell, else the next.

    None where there is none.
    """
    some = list(later)[:MAX_LATER]
    pieces = _all_pieces(failed)
    if not pieces or not some:
        return some[0] if some else None
    ranked = [(_jaccard(pieces, _all_pieces(other)), -at) for at, other in enumerate(some)]
    likeness, at = max(ranked)
    return some[-at] if likeness >= MIN_LIKENESS else some[0]


def swaps_between(failed: Mapping[str, Any], fixed: Mapping[str, Any]) -> list[Swap]:
    """Words of the texts of one input that became others, in order, each once."""
    found: dict[Swap, None] = {}
    for place, text in _texts(failed):
        other = _at(fixed, place)
        if isinstance(other, str) and other != text and len(other) <= MAX_TEXT:
            found |= dict.fromkeys(Swap(place, old, new) for old, new in _swaps(text, other))
    return list(found)


def word_edit(blamed: Sequence[Atom], swaps: Iterable[Swap]) -> Edit | None:
    """The swap of a word that the error blames, as an edit; None where that word was not swapped."""
    wanted = {(atom.place, atom.value) for atom in blamed if atom.kind == "word"}
    for swap in swaps:
        if (swap.place, swap.old) in wanted:
            words = {
                "op": "replace_words",
                "field": ".".join(map(str, swap.place)),
                "words": {swap.old: swap.new},
            }
            return Edit((json.dumps(words, sort_keys=True, ensure_ascii=False),), is_near(swap.old, swap.new))
    return None


def is_near(one: str, other: str) -> bool:
    """Whether two names are spelt alike (Ratcliff and Obershelp's measure, in any case)."""
    return SequenceMatcher(None, one.lower(), other.lower(), autojunk=False).ratio() >= NEAR


def _swaps(text: str, other: str) -> Iterator[tuple[str, str]]:
    before, after = _PIECE.findall(text)[:MAX_PIECES], _PIECE.findall(other)[:MAX_PIECES]
    folded = [piece.lower() for piece in before], [piece.lower() for piece in after]
    for kind, low, high, start, end in SequenceMatcher(None, *folded, autojunk=False).get_opcodes():
        if kind == "replace" and high - low == end - start:
            for old, new in zip(folded[0][low:high], after[start:end], strict=True):
                yield from (pair for pair in _named(old, new) if _has_owners(folded[0], *pair))


def _has_owners(pieces: Sequence[str], old: str, new: str) -> bool:
    """A name that becomes a dotted one needs its first parts in the text; they were not put in with it."""
    owners = new.lower().split(".")[:-1]
    known = {part for piece in pieces for part in piece.split(".")}
    return "." in old or all(owner in known for owner in owners)


def _named(old: str, new: str) -> Iterator[tuple[str, str]]:
    """The names that differ: the whole ones and, of dotted ones, the parts."""
    if not (_WORD.match(old) and _WORD.match(new)) or old == new.lower():
        return
    yield old, new
    parts, others = old.split("."), new.split(".")
    if len(parts) == len(others) > 1:
        yield from ((one, two) for one, two in zip(parts, others, strict=True) if one != two.lower())


def _texts(value: Mapping[str, Any], place: Place = ()) -> Iterator[tuple[Place, str]]:
    """Long texts outside lists, at places that an operation can name."""
    for name, part in value.items():
        if not isinstance(name, str) or not _PLAIN.match(name):
            continue
        here = (*place, name)
        if isinstance(part, Mapping) and len(here) < MAX_DEPTH:
            yield from _texts(part, here)
        elif isinstance(part, str) and is_long_text(part) and len(part) <= MAX_TEXT and REDACTED not in part:
            yield here, part


def _at(value: Any, place: Place) -> Any:
    for name in place:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _all_pieces(value: Mapping[str, Any]) -> Counter[str]:
    return Counter(
        piece for _place, text in _texts(value) for piece in _PIECE.findall(text.lower())[:MAX_PIECES]
    )


def _jaccard(one: Counter[str], other: Counter[str]) -> float:
    return (one & other).total() / max(1, (one | other).total())
