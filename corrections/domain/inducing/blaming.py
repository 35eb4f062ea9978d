"""Which facts about a failing call its error message blames.

The readings are tried in order; a reading that says nothing about the call, or is true of most good calls of
the tool anyway, is passed over. Nothing here knows a tool, a language or a domain.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from corrections.domain.inducing.features import Atom, parts_of
from corrections.domain.inducing.ledger import Book, Ledger

MAX_MESSAGE = 1_000
MAX_COMMON = 0.5
"""A fact true of more than this share of the good calls tells nothing."""
MIN_SIZE = 10
_CODE = re.compile(r"[\w@.:+-]*[\w@]")
_WORD = re.compile(r"\w+")
_STEM = re.compile(r"[_-]")


@dataclass(frozen=True)
class Said:
    """A failing call as its error describes it: its facts, the blamed name, the words of the message."""

    atoms: frozenset[Atom]
    identifier: str
    message: str

    def codes(self) -> frozenset[str]:
        """The words of the message, signs inside them kept: names, dates, amounts."""
        found = _CODE.findall(self.message.casefold()[:MAX_MESSAGE])
        return frozenset((*found, *(word.rstrip(".:+-") for word in found)))


def blame(said: Said, book: Book, ledger: Ledger) -> tuple[Atom, ...]:
    """The facts that the message blames, none when it blames nothing that is in the call."""
    for reading in (_elements, _named, _totals, _coded, _stems, _fields):
        for found in reading(said):
            if _tells(found, book, ledger):
                return found
    foreign = sorted((atom for atom in said.atoms if ledger.is_foreign(book[0], atom)), key=repr)
    return tuple(foreign[:1])


def lacks(said: Said, book: Book, ledger: Ledger) -> tuple[Atom, ...]:
    """The field that the message names, that good calls of the tool have, and that this call has not."""
    name = said.identifier.rpartition(".")[2].casefold()
    named = (atom for atom in ledger.fields(book[0]) if str(atom.place[-1]).casefold() == name)
    return tuple(atom for atom in named if atom not in said.atoms)[:1]


def _tells(found: tuple[Atom, ...], book: Book, ledger: Ledger) -> bool:
    size = ledger.size(book)
    return size < MIN_SIZE or len(ledger.hit(book, found)) <= MAX_COMMON * size


def _elements(said: Said) -> Iterator[tuple[Atom, ...]]:
    """Two values of the same element of a list, both named."""
    codes = said.codes()
    yield from _first(said, lambda atom: atom.kind == "pair" and _named_in(atom, codes) == 2)


def _named(said: Said) -> Iterator[tuple[Atom, ...]]:
    """The blamed name, or the last part of a dotted one, is a word or a value of the call."""
    name = said.identifier.casefold()
    for text in dict.fromkeys((name, name.rpartition(".")[2])):
        if text:
            wanted = " ".join(_WORD.findall(text)) if " " in text else text
            yield from _first(
                said,
                lambda atom, text=text, wanted=wanted: (  # type: ignore[misc]
                    (atom.kind == "word" and atom.value == wanted)
                    or (atom.kind == "is" and atom.value.casefold() == text)
                ),
            )
            yield from _foreign_name(said, text)


def _foreign_name(said: Said, name: str) -> Iterator[tuple[Atom, ...]]:
    """A name in a script without spaces: all its pieces at the same place."""
    pieces = set(parts_of(name))
    places = sorted({atom.place for atom in said.atoms if atom.kind == "part"}, key=repr)
    for place in places:
        held = {atom for atom in said.atoms if atom.kind == "part" and atom.place == place}
        found = sorted((atom for atom in held if atom.value in pieces), key=repr)
        if pieces and {atom.value for atom in found} == pieces:
            yield tuple(found)


def _totals(said: Said) -> Iterator[tuple[Atom, ...]]:
    """The total of a list is a number that the message says."""
    codes = said.codes()
    yield from _first(said, lambda atom: atom.kind == "sum" and _number(atom.value) in codes)


def _coded(said: Said) -> Iterator[tuple[Atom, ...]]:
    """A number, or a text with digits in it, that the message says; with its neighbour where it has one."""
    codes = said.codes()
    plain = [
        atom
        for atom in sorted(said.atoms, key=repr)
        if (atom.kind == "number" and _number(atom.value) in codes)
        or (atom.kind == "is" and atom.value.casefold() in codes and any(c.isdigit() for c in atom.value))
    ]
    if plain:
        yield from _first(said, lambda atom: atom.kind == "pair" and _named_in(atom, codes) == 1)
    yield from ((atom,) for atom in plain)


def _stems(said: Said) -> Iterator[tuple[Atom, ...]]:
    """A value begins with words of the message: ``gift_card_`` and "gift card"."""
    words = _WORD.findall(said.message.casefold()[:MAX_MESSAGE])

    def is_said(atom: Atom) -> bool:
        parts = [part for part in _STEM.split(str(atom.value).casefold()) if part]
        return atom.kind == "starts" and " " not in atom.value and _runs_in(parts, words)

    yield from _first(said, is_said)


def _runs_in(parts: list[str], words: list[str]) -> bool:
    size = len(parts)
    return bool(parts) and any(words[at : at + size] == parts for at in range(len(words) - size + 1))


def _fields(said: Said) -> Iterator[tuple[Atom, ...]]:
    """The blamed name is the name of a field: it is null or blank, of the wrong type, has a wrong value."""
    name = said.identifier.rpartition(".")[2].casefold()
    for kind in ("null", "blank", "type", "is", "number", "flag", "has") if name else ():
        yield from _first(
            said,
            lambda atom, kind=kind: atom.kind == kind and str(atom.place[-1]).casefold() == name,  # type: ignore[misc]
        )


def _first(said: Said, wanted: Callable[[Atom], bool]) -> Iterator[tuple[Atom, ...]]:
    found = sorted((atom for atom in said.atoms if wanted(atom)), key=repr)
    yield from ((atom,) for atom in found[:1])


def _named_in(atom: Atom, codes: frozenset[str]) -> int:
    one, _place, other = atom.value
    return (one.casefold() in codes) + (other.casefold() in codes)


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)
