"""The index: which rules of one tool could match, without evaluating their conditions.

Every entry is filed under its most selective *atom* (see ``atoms``), all atoms on the same field
sharing one read of it. An entry is left out only when its atom is certainly false; a field that
cannot be read, or has a type the test does not take, makes the entry a candidate, so that the
evaluation error is seen.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final

from hgmem.rules.atoms import Atom, atoms_of
from hgmem.rules.closures import Frame
from hgmem.rules.compiled import Entry
from hgmem.rules.field_index import FieldIndex
from hgmem.rules.tree import Read

_RANKS: Final = {"eq": 0, "member": 1, "prefix": 1, "suffix": 1, "contains": 2, "window": 3}
_BOUNDS: Final = {"gt": 4, "ge": 4, "lt": 4, "le": 4}
_WEAK: Final = 5
_COMMON: Final = 8
"""An equality shared by more entries than this is no better than a text test."""

Shared = Counter[tuple[Read, str, Any]]


class Index:
    """The entries of one tool (or tool pattern) at one point."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = list(entries)
        self._rest: list[Entry] = []
        fields: dict[tuple[Read, str], FieldIndex] = {}
        atoms = [(entry, atoms_of(entry.guard)) for entry in self.entries]
        shared: Shared = Counter(
            (atom.read, atom.via, value) for _, some in atoms for atom in some for value in atom.values
        )
        for entry, some in atoms:
            if not some:
                self._rest.append(entry)
                continue
            best = min(some + _windows(some), key=lambda atom: _rank(atom, shared))
            key = (best.read, best.via)
            if key not in fields:
                fields[key] = FieldIndex(*key)
            fields[key].file(best, some, entry)
        self._close(fields)

    def _close(self, fields: dict[tuple[Read, str], FieldIndex]) -> None:
        """Sort the fields into those read by one look-up in a variable, by variable, and the others."""
        simple: dict[str, list[tuple[str, FieldIndex]]] = {}
        self._others: list[FieldIndex] = []
        for (read, via), field in fields.items():
            field.close()
            if len(read.path) == 1 and not via:
                simple.setdefault(read.root, []).append((read.path[0], field))
            else:
                self._others.append(field)
        self._simple = [(root, tuple(some)) for root, some in simple.items()]

    def candidates(self, frame: Frame) -> list[Entry]:
        """The entries whose condition is not certainly false; needs a clean context."""
        found = list(self._rest)
        for root, fields in self._simple:
            owner = frame.get(root)
            if owner.__class__ is not dict:
                for _, field in fields:
                    field.collect(frame, found)
                continue
            _collect(fields, owner.get, frame, found)
        for field in self._others:
            field.collect(frame, found)
        return found


def _collect(
    fields: Iterable[tuple[str, FieldIndex]], get: Callable[[str], Any], frame: Frame, found: list[Entry]
) -> None:
    """``FieldIndex.collect`` for fields read by one look-up, with the frequent cases in line."""
    for name, field in fields:
        value = get(name)
        if value.__class__ is str:
            hit = field.equal_get(value)
            if hit is not None:
                found += hit
            if field.has_text_tests:
                field.collect_text(value, found)
        elif value is None:
            if field.has_null_tests:
                field.collect_null(frame, found)
        else:
            field.collect_other(value, found)


def _rank(atom: Atom, shared: Shared) -> tuple[int, int]:
    if atom.kind in _BOUNDS:
        return _BOUNDS[atom.kind], 0
    if atom.kind not in _RANKS:
        return _WEAK, 0
    common = 0 if atom.kind == "window" else max(shared[atom.read, atom.via, value] for value in atom.values)
    rank = _RANKS[atom.kind]
    return (rank if rank or common <= _COMMON else 1), common


def _windows(atoms: list[Atom]) -> list[Atom]:
    """Pairs of a lower and an upper bound on the same field, as one atom."""
    lower = [atom for atom in atoms if atom.kind in ("gt", "ge")]
    upper = [atom for atom in atoms if atom.kind in ("lt", "le")]
    return [
        Atom(low.read, "window", (low.values[0], high.values[0]), low.via)
        for low in lower
        for high in upper
        if (low.read, low.via) == (high.read, high.via)
    ]
