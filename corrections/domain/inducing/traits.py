"""Facts about the form of an input: how large its lists and texts are, and how its values end."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from corrections.domain.inducing.features import (
    MAX_DEPTH,
    MAX_LEAVES,
    MAX_SHORT,
    REDACTED,
    Atom,
    leaves_of,
)
from memory.domain.payloads import is_reference

MAX_TRAITS = 300
_ENDINGS = (
    re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}\Z"),
    re.compile(r"[_-][A-Za-z]+\Z"),
    re.compile(r"(?<=[0-9])[A-Za-z%]{1,5}\Z"),
    re.compile(r"[?!/;:]\Z"),
)


def traits_of(call_input: Mapping[str, Any]) -> frozenset[Atom]:
    """At most ``MAX_TRAITS`` facts of the kinds ``size`` and ``ends``."""
    found: set[Atom] = set()
    for source in (_list_sizes(call_input, ()), _texts(call_input)):
        for atom in source:
            if len(found) >= MAX_TRAITS:
                return frozenset(found)
            found.add(atom)
    return frozenset(found)


def _list_sizes(value: Mapping[str, Any], place: tuple[str | None, ...]) -> Iterator[Atom]:
    for name, part in list(value.items())[:MAX_LEAVES]:
        if not isinstance(name, str):
            continue
        if isinstance(part, list):
            yield Atom((*place, name), "size", float(len(part)))
        elif isinstance(part, Mapping) and len(place) < MAX_DEPTH and not is_reference(part):
            yield from _list_sizes(part, (*place, name))


def _texts(call_input: Mapping[str, Any]) -> Iterator[Atom]:
    for leaf in leaves_of(call_input):
        if not isinstance(leaf.value, str) or REDACTED in leaf.value:
            continue
        if None not in leaf.place:
            yield Atom(leaf.place, "size", float(len(leaf.value)))
        for ending in _ENDINGS if len(leaf.value) <= MAX_SHORT else ():
            found = ending.search(leaf.value)
            if found and found.start():
                yield Atom(leaf.place, "ends", found[0])
