"""What can be said about the input of a call, as small facts that are true or false of any call.

A fact (an *atom*) is a place, a kind and a value. Kinds: ``is`` (a short text), ``number``, ``flag``,
``null``, ``blank``, ``has`` (the field is given), ``type``, ``word`` (one word, a dotted name or two words in
a row in a longer text, in any case), ``part`` (a few characters in a row of a script without spaces),
``starts`` (how a text begins), ``pair`` (two values of the same list element), ``sum`` (a list's total).

Other facts are found in ``traits`` (``size``, ``ends``) and ``surroundings`` (``env``, ``previous``,
``called``, ``passed``, ``after_error``). A *bound* is a fact over numbers: ``above`` and ``below`` a value,
``longer`` and ``shorter`` than a size.
"""

import math
import re
from collections.abc import Iterator, Mapping
from itertools import combinations, pairwise
from typing import Any, NamedTuple

from memory.domain.payloads import is_reference

Step = str | None
Place = tuple[Step, ...]
"""Names of fields from the input downwards; None stands for any element of a list."""

MAX_DEPTH = 6
MAX_LEAVES = 300
MAX_ITEMS = 50
MAX_SHORT = 80
MAX_TEXT = 4_000
MAX_WORDS = 300
MAX_ATOMS = 1_500
MAX_PAIRED = 6
MAX_ADDED = 3
MAX_NAME = 80
MAX_SAID = 3
PART_SIZES = (2, 3, 4)
WHOLE_NUMBERS = 2**53
REDACTED = "[redacted:"
_SPACE = re.compile(r"\s")
_WORD = re.compile(r"[A-Za-z0-9_]+")
_DOTTED = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z0-9_]++(?:\.[A-Za-z0-9_]++)+")
_FOREIGN = re.compile(r"[^\W\d_a-zA-Z]{2,}")
_CODE_STEM = re.compile(r"([A-Za-z]+(?:[_-][A-Za-z]+)*[_-])[0-9]+\Z")


class Atom(NamedTuple):
    """One fact about a call."""

    place: Place
    kind: str
    value: Any = ""


class Leaf(NamedTuple):
    """A scalar of an input: its place, the list element it belongs to, its value."""

    place: Place
    owner: tuple[int | str, ...]
    value: Any


def atoms_of(call_input: Mapping[str, Any]) -> frozenset[Atom]:
    """Every fact about an input, at most about ``MAX_ATOMS`` of them."""
    leaves = list(leaves_of(call_input))
    found: set[Atom] = set()
    for source in (_presence(call_input, ()), _values(leaves), _sums(call_input, ()), _pairs(leaves)):
        for atom in source:
            if len(found) >= MAX_ATOMS:
                return frozenset(found)
            found.add(atom)
    return frozenset(found)


BOUNDS = {
    "above": ("number", True),
    "below": ("number", False),
    "longer": ("size", True),
    "shorter": ("size", False),
}
"""Each kind of bound: the kind of fact it is about, and whether larger values fulfil it."""


def is_true(atom: Atom, facts: frozenset[Atom]) -> bool:
    """Whether a fact, or a bound over facts, is true of a call."""
    if atom.kind not in BOUNDS:
        return atom in facts
    return any(is_beyond(atom, fact) for fact in facts)


def is_beyond(bound: Atom, fact: Atom) -> bool:
    """Whether a number or a size is beyond a bound."""
    kind, is_larger = BOUNDS[bound.kind]
    if fact.kind != kind or fact.place != bound.place:
        return False
    return bool(fact.value > bound.value if is_larger else fact.value < bound.value)


def implies(one: Atom, other: Atom) -> bool:
    """Whether a call of which ``one`` is true can but have ``other``, as far as the two themselves tell."""
    if one.kind == "pair":
        first, place, second = one.value
        return other in (Atom(one.place, "is", first), Atom(place, "is", second))
    if one.place != other.place or one == other:
        return False
    if one.kind == "word":
        return other.kind == "word" and other.value in one.value.split(" ")
    if other.kind == "has":
        return None not in one.place
    if other.kind == "starts":
        return one.kind == "is" and str(one.value).startswith(other.value)
    return (
        other.kind == "type"
        and one.kind in ("is", "number", "flag", "starts", "blank")
        and None not in one.place
    )


def excludes(one: Atom, other: Atom) -> bool:
    """Whether a call of which ``one`` is true cannot have ``other``: two values of one place."""
    alike = one.place == other.place and None not in one.place and one.kind == other.kind
    return alike and one.kind in ("is", "number", "flag", "type") and one.value != other.value


def parts_of(text: str) -> list[str]:
    """The pieces under which a name in a script without spaces is found."""
    size = PART_SIZES[-1]
    if len(text) <= size:
        return [text] if len(text) >= PART_SIZES[0] else []
    return [text[at : at + size] for at in (*range(0, len(text) - size, size), len(text) - size)]


def is_long_text(value: str) -> bool:
    """Whether a text is read by its words rather than taken as one value."""
    return len(value) > MAX_SHORT or bool(_SPACE.search(value.strip())) or bool(_FOREIGN.search(value))


def leaves_of(call_input: Mapping[str, Any]) -> Iterator[Leaf]:
    """The scalars of an input in order, without recursion: nesting is the caller's to choose."""
    stack: list[tuple[Place, tuple[int | str, ...], Any]] = [((), (), call_input)]
    left = MAX_LEAVES
    while stack and left:
        place, owner, value = stack.pop()
        if isinstance(value, Mapping):
            if len(place) < MAX_DEPTH and not is_reference(value):
                named = [(name, part) for name, part in value.items() if _is_name(name)]
                stack += [((*place, name), owner, part) for name, part in reversed(named[:MAX_LEAVES])]
        elif isinstance(value, list):
            if len(place) < MAX_DEPTH and None not in place:
                items = list(enumerate(value[:MAX_ITEMS]))
                stack += [((*place, None), (*map(str, place), at), part) for at, part in reversed(items)]
        elif place:
            left -= 1
            yield Leaf(place, owner, value)


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and 0 < len(name) <= MAX_NAME and name.isprintable()


def _presence(value: Mapping[str, Any], place: Place) -> Iterator[Atom]:
    """Which fields are given, and of what type, outside lists."""
    for name, part in list(value.items())[:MAX_LEAVES]:
        if not _is_name(name):
            continue
        here = (*place, name)
        yield Atom(here, "has")
        kind = type_name(part)
        if kind:
            yield Atom(here, "type", kind)
        if isinstance(part, Mapping) and len(here) < MAX_DEPTH and not is_reference(part):
            yield from _presence(part, here)


def type_name(value: Any) -> str:
    """The name CEL has for the type of a JSON value; blank for null."""
    for kind, name in ((bool, "bool"), (int, "int"), (float, "double"), (str, "string"), (list, "list")):
        if isinstance(value, kind):
            return name
    return "map" if isinstance(value, Mapping) else ""


def _values(leaves: list[Leaf]) -> Iterator[Atom]:
    for place, _owner, value in leaves:
        if value is None:
            yield Atom(place, "null")
        elif isinstance(value, bool):
            yield Atom(place, "flag", value)
        elif isinstance(value, int | float):
            if abs(value) < WHOLE_NUMBERS and math.isfinite(value):
                yield Atom(place, "number", float(value))
        elif isinstance(value, str) and REDACTED not in value:
            yield from _text(place, value)


def _text(place: Place, value: str) -> Iterator[Atom]:
    if not value.strip():
        yield Atom(place, "blank")
    elif is_long_text(value):
        yield from _words(place, value[:MAX_TEXT])
        if len(value) <= MAX_SHORT and len(value.split()) <= MAX_SAID:
            yield Atom(place, "is", value)
    else:
        yield Atom(place, "is", value)
        stem = _CODE_STEM.match(value)
        if stem:
            yield Atom(place, "starts", stem[1])


def _words(place: Place, text: str) -> Iterator[Atom]:
    folded = text.lower()
    opening = text.split(maxsplit=1)[0]
    if text.startswith(opening) and len(text) > len(opening) and len(opening) <= MAX_SHORT:
        yield Atom(place, "starts", text[: len(opening) + 1])
    words = _WORD.findall(folded)[:MAX_WORDS]
    for word in (*words, *_DOTTED.findall(folded)[:MAX_WORDS]):
        if len(word) <= MAX_SHORT:
            yield Atom(place, "word", word)
    for first, second in pairwise(words):
        if len(first) + len(second) < MAX_SHORT:
            yield Atom(place, "word", f"{first} {second}")
    for run in _FOREIGN.findall(text)[:MAX_WORDS]:
        for size in PART_SIZES:
            for at in range(len(run) - size + 1):
                yield Atom(place, "part", run[at : at + size])


def _pairs(leaves: list[Leaf]) -> Iterator[Atom]:
    """Two short texts of the same element of a list belong together."""
    elements: dict[tuple[int | str, ...], list[Leaf]] = {}
    for leaf in leaves:
        if leaf.owner and isinstance(leaf.value, str) and leaf.place[-1] is not None:
            elements.setdefault(leaf.owner, []).append(leaf)
    for some in elements.values():
        short = [leaf for leaf in some if leaf.value.strip() and not is_long_text(leaf.value)]
        for one, other in combinations(short[:MAX_PAIRED], 2):
            if REDACTED not in one.value + other.value:
                yield Atom(one.place, "pair", (one.value, other.place, other.value))


def _sums(value: Mapping[str, Any], place: Place) -> Iterator[Atom]:
    """The total of a number over a short list of objects that all have it."""
    for name, part in list(value.items())[:MAX_LEAVES]:
        if not _is_name(name):
            continue
        if isinstance(part, Mapping) and len(place) < MAX_DEPTH:
            yield from _sums(part, (*place, name))
        elif (
            isinstance(part, list)
            and 0 < len(part) <= MAX_ADDED
            and all(isinstance(x, Mapping) for x in part)
        ):
            yield from _totals(part, (*place, name))


def _totals(items: list[Mapping[str, Any]], place: Place) -> Iterator[Atom]:
    for name in items[0]:
        numbers = [item.get(name) for item in items]
        plain = [x for x in numbers if isinstance(x, int | float) and not isinstance(x, bool)]
        if _is_name(name) and len(plain) == len(items) and all(abs(x) < WHOLE_NUMBERS for x in plain):
            yield Atom((*place, None, name), "sum", float(sum(plain)))
