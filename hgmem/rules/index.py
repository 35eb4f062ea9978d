"""The index: which rules of one tool could match, without evaluating their conditions.

Every entry is filed under its most selective *atom* (see ``atoms``), all atoms on the same field
sharing one read of it. An entry is left out only when its atom is certainly false; a field that
cannot be read, or has a type the test does not take, makes the entry a candidate, so that the
evaluation error is seen.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from hgmem.rules.atoms import Atom, atoms_of
from hgmem.rules.closures import Frame, reader
from hgmem.rules.compiled import Entry
from hgmem.rules.operators import UNARY
from hgmem.rules.tree import Read
from hgmem.rules.values import ConditionError, has_path

_RANKS = {"eq": 0, "member": 1, "prefix": 1, "suffix": 1, "contains": 2, "gt": 3, "ge": 3, "lt": 3, "le": 3}
_WEAK = 4
_COMMON = 8
"""An equality shared by more entries than this is no better than a text test."""

Key = tuple[Read, str]


class Index:
    """The entries of one tool (or tool pattern) at one point."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = list(entries)
        self._rest: list[Entry] = []
        filed: dict[Key, list[tuple[Atom, list[Atom], Entry]]] = {}
        atoms = [(entry, atoms_of(entry.guard)) for entry in self.entries]
        shared = Counter((atom.read, atom.via, value) for _, some in atoms for atom in some for value in atom.values)
        for entry, some in atoms:
            if not some:
                self._rest.append(entry)
                continue
            best = min(some, key=lambda atom: _rank(atom, shared))
            filed.setdefault((best.read, best.via), []).append((best, some, entry))
        self._fields = [_FieldIndex(read, via, entries) for (read, via), entries in filed.items()]

    def candidates(self, frame: Frame) -> list[Entry]:
        """The entries whose condition is not certainly false; needs a clean context."""
        found = list(self._rest)
        for field in self._fields:
            field.collect(frame, found)
        return found


def _rank(atom: Atom, shared: Counter[Any]) -> tuple[int, int]:
    if atom.kind not in _RANKS:
        return _WEAK, 0
    common = max(shared[atom.read, atom.via, value] for value in atom.values) if atom.values else 0
    rank = _RANKS[atom.kind]
    return (rank if rank or common <= _COMMON else 1), common


class _FieldIndex:
    """All entries filed under one field (seen through at most one text function)."""

    def __init__(self, read: Read, via: str, filed: list[tuple[Atom, list[Atom], Entry]]) -> None:
        self._read = read
        self._get = reader(read.root, read.path)
        self._via: Callable[[Any], Any] | None = UNARY[via] if via else None
        self._all: list[Entry] = []
        self._on_null: list[Entry] = []
        self._on_null_if_there: list[Entry] = []
        self._on_value: list[Entry] = []
        self._on_list: list[Entry] = []
        self._on_text: list[Entry] = []
        self._on_number: list[Entry] = []
        self._equal: dict[Any, list[Entry]] = {}
        self._members: dict[str, list[Entry]] = {}
        self._prefixes: dict[int, dict[str, list[Entry]]] = {}
        self._suffixes: dict[int, dict[str, list[Entry]]] = {}
        self._contains: dict[str, list[Entry]] = {}
        self._lower: list[tuple[float, Entry]] = []
        self._upper: list[tuple[float, Entry]] = []
        for atom, atoms, entry in filed:
            self._file(atom, _null_guard(atom, atoms), entry)
        self._close()

    def _file(self, atom: Atom, guard: str, entry: Entry) -> None:
        self._all.append(entry)
        if guard == "":
            self._on_null.append(entry)
        elif guard == "has":
            self._on_null_if_there.append(entry)
        kind = atom.kind
        if kind == "eq":
            for value in atom.values:
                self._file_equal(value, entry)
        elif kind in ("present", "has"):
            self._on_value.append(entry)
        elif kind == "member":
            self._members.setdefault(atom.values[0], []).append(entry)
        elif kind in ("prefix", "suffix"):
            table = self._prefixes if kind == "prefix" else self._suffixes
            text = atom.values[0]
            table.setdefault(len(text), {}).setdefault(text, []).append(entry)
        elif kind == "contains":
            self._contains.setdefault(atom.values[0], []).append(entry)
        else:
            bounds = self._lower if kind in ("gt", "ge") else self._upper
            bounds.append((float(atom.values[0]), entry))
        self._file_mistyped(kind, entry)

    def _file_equal(self, value: Any, entry: Entry) -> None:
        found = self._on_null if value is None else self._equal.setdefault(_key(value), [])
        if entry not in found[-1:]:
            found.append(entry)

    def _file_mistyped(self, kind: str, entry: Entry) -> None:
        """Where a value of a type the test does not take makes the evaluation fail."""
        if kind in ("eq", "present", "has"):
            return
        if kind != "member":
            self._on_list.append(entry)
        if kind not in ("prefix", "suffix", "contains"):
            self._on_text.append(entry)
        if kind not in ("gt", "ge", "lt", "le"):
            self._on_number.append(entry)

    def _close(self) -> None:
        self._lower.sort(key=lambda pair: pair[0])
        self._upper.sort(key=lambda pair: pair[0])
        self._lower_bounds = [bound for bound, _ in self._lower]
        self._lower_entries = [entry for _, entry in self._lower]
        self._upper_bounds = [bound for bound, _ in self._upper]
        self._upper_entries = [entry for _, entry in self._upper]
        self._prefix_tables = list(self._prefixes.items())
        self._suffix_tables = list(self._suffixes.items())
        self._needles = list(self._contains.items())

    def collect(self, frame: Frame, found: list[Entry]) -> None:
        """Add the candidates for the field's value."""
        try:
            value = self._get(frame)
            if self._via is not None and value is not None:
                value = self._via(value)
        except ConditionError:
            found += self._all
            return
        if value is None:
            self._collect_null(frame, found)
            return
        kind = value.__class__
        if self._on_value:
            found += self._on_value
        if kind is str:
            self._collect_text(value, found)
        elif kind is int or kind is float:
            self._collect_number(value, found)
        elif kind is bool:
            found += self._on_number
            found += self._bounded_all()
            found += self._equal.get((value,), ())
        else:
            self._collect_items(value, found)

    def _collect_null(self, frame: Frame, found: list[Entry]) -> None:
        found += self._on_null
        if self._on_null_if_there and has_path(frame, self._read.root, self._read.path):
            found += self._on_null_if_there

    def _collect_text(self, value: str, found: list[Entry]) -> None:
        if self._on_text:
            found += self._on_text
        if self._equal:
            hit = self._equal.get(value)
            if hit is not None:
                found += hit
        for length, table in self._prefix_tables:
            hit = table.get(value[:length])
            if hit is not None:
                found += hit
        for length, table in self._suffix_tables:
            hit = table.get(value[-length:])
            if hit is not None:
                found += hit
        for needle, entries in self._needles:
            if needle in value:
                found += entries

    def _collect_number(self, value: int | float, found: list[Entry]) -> None:
        if self._on_number:
            found += self._on_number
        number = float(value)
        if self._equal:
            hit = self._equal.get(number)
            if hit is not None:
                found += hit
        if self._lower_bounds:
            found += self._lower_entries[: bisect_right(self._lower_bounds, number)]
        if self._upper_bounds:
            found += self._upper_entries[bisect_left(self._upper_bounds, number) :]

    def _bounded_all(self) -> list[Entry]:
        return self._lower_entries + self._upper_entries

    def _collect_items(self, value: Any, found: list[Entry]) -> None:
        found += self._on_list
        if self._members:
            for item in {item for item in value if item.__class__ is str}:
                found += self._members.get(item, ())


def _key(value: Any) -> Any:
    if isinstance(value, bool):
        return (value,)
    return float(value) if isinstance(value, int | float) else value


def _null_guard(chosen: Atom, atoms: list[Atom]) -> str:
    """Why a null need not be looked at: "never" (certainly false), "has" (only if the key is there), ""."""
    if chosen.via == "" and chosen.kind in ("eq", "present"):
        return "never"
    same = {atom.kind for atom in atoms if atom.read == chosen.read and atom.via == "" and None not in atom.values}
    if same & {"present", "eq"}:
        return "never"
    return "has" if "has" in same else ""
