"""All index entries filed under one field, seen through at most one text function."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from math import frexp, inf, nextafter
from typing import Any

from hgmem.rules.atoms import Atom
from hgmem.rules.closures import Frame, reader
from hgmem.rules.compiled import Entry
from hgmem.rules.operators import UNARY
from hgmem.rules.text_tables import AffixTable, NeedleTable
from hgmem.rules.tree import Read
from hgmem.rules.values import ConditionError, has_path

_BOUND_KINDS = frozenset(("gt", "ge", "lt", "le", "window"))
_TEXT_KINDS = frozenset(("prefix", "suffix", "contains"))
_TOTAL_KINDS = frozenset(("eq", "present", "has"))

Window = tuple[float, float, Entry]


class FieldIndex:
    """Looks a field's value up in tables of constants. Call ``close`` when all entries are filed.

    Bounds are compared as doubles and without strictness: the tables may name too many entries,
    never too few.
    """

    __slots__ = (
        "_all",
        "_bounded",
        "_contains",
        "_equal",
        "_get",
        "_lower",
        "_lower_bounds",
        "_members",
        "_on_list",
        "_on_null",
        "_on_null_if_there",
        "_on_number",
        "_on_text",
        "_on_value",
        "_prefixes",
        "_read",
        "_suffixes",
        "_text_tables",
        "_upper",
        "_upper_bounds",
        "_via",
        "_window_groups",
        "_windows",
        "equal_get",
        "has_null_tests",
        "has_text_tests",
    )

    def __init__(self, read: Read, via: str) -> None:
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
        self._prefixes: dict[str, list[Entry]] = {}
        self._suffixes: dict[str, list[Entry]] = {}
        self._contains: dict[str, list[Entry]] = {}
        self._bounded: list[Entry] = []
        self._lower: list[tuple[float, Entry]] = []
        self._upper: list[tuple[float, Entry]] = []
        self._windows: list[Window] = []

    def file(self, atom: Atom, atoms: list[Atom], entry: Entry) -> None:
        """File an entry under one of its atoms."""
        self._all.append(entry)
        guard = _null_guard(atom, atoms)
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
        elif kind in _TEXT_KINDS:
            self._file_text(kind, atom.values[0], entry)
        else:
            self._file_bound(kind, [float(value) for value in atom.values], entry)
        if kind not in _TOTAL_KINDS:
            self._file_mistyped(kind, entry)

    def _file_equal(self, value: Any, entry: Entry) -> None:
        found = self._on_null if value is None else self._equal.setdefault(_key(value), [])
        if entry not in found[-1:]:
            found.append(entry)

    def _file_text(self, kind: str, text: str, entry: Entry) -> None:
        texts = {"prefix": self._prefixes, "suffix": self._suffixes, "contains": self._contains}[kind]
        texts.setdefault(text, []).append(entry)

    def _file_bound(self, kind: str, bounds: list[float], entry: Entry) -> None:
        self._bounded.append(entry)
        if kind == "window":
            self._windows.append((bounds[0], bounds[1], entry))
        else:
            (self._lower if kind in ("gt", "ge") else self._upper).append((bounds[0], entry))

    def _file_mistyped(self, kind: str, entry: Entry) -> None:
        """Where a value of a type the test does not take makes the evaluation fail."""
        if kind != "member":
            self._on_list.append(entry)
        if kind not in _TEXT_KINDS:
            self._on_text.append(entry)
        if kind not in _BOUND_KINDS:
            self._on_number.append(entry)

    def close(self) -> None:
        """Sort the bounds; from now on the index is only read."""
        self._lower.sort(key=lambda pair: pair[0])
        self._upper.sort(key=lambda pair: pair[0])
        self._window_groups = _grouped(self._windows)
        self._lower_bounds = [bound for bound, _ in self._lower]
        self._upper_bounds = [bound for bound, _ in self._upper]
        self._text_tables: list[AffixTable | NeedleTable] = []
        if self._prefixes:
            self._text_tables.append(AffixTable(self._prefixes, is_prefix=True))
        if self._suffixes:
            self._text_tables.append(AffixTable(self._suffixes, is_prefix=False))
        if self._contains:
            self._text_tables.append(NeedleTable(self._contains))
        self.equal_get = self._equal.get
        self.has_null_tests = bool(self._on_null or self._on_null_if_there)
        self.has_text_tests = bool(self._on_value or self._on_text or self._text_tables)

    def collect(self, frame: Frame, found: list[Entry]) -> None:
        """Read the field and add the candidates for its value."""
        try:
            value = self._get(frame)
            if self._via is not None and value is not None:
                value = self._via(value)
        except ConditionError:
            found += self._all
            return
        if value is None:
            self.collect_null(frame, found)
        elif value.__class__ is str:
            found += self._equal.get(value, ())
            self.collect_text(value, found)
        else:
            self.collect_other(value, found)

    def collect_null(self, frame: Frame, found: list[Entry]) -> None:
        """Add the candidates for a null or missing field."""
        found += self._on_null
        if self._on_null_if_there and has_path(frame, self._read.root, self._read.path):
            found += self._on_null_if_there

    def collect_text(self, value: str, found: list[Entry]) -> None:
        """Add the candidates for a text, beside those that equal it."""
        if self._on_value:
            found += self._on_value
        if self._on_text:
            found += self._on_text
        for table in self._text_tables:
            table.collect(value, found)

    def collect_other(self, value: Any, found: list[Entry]) -> None:
        """Add the candidates for a number, a boolean, a list or a map."""
        found += self._on_value
        kind = value.__class__
        if kind is int or kind is float:
            self._collect_number(value, found)
        elif kind is bool:
            found += self._on_number
            found += self._bounded
            found += self._equal.get((value,), ())
        else:
            found += self._on_list
            if self._members:
                for item in {item for item in value if item.__class__ is str}:
                    found += self._members.get(item, ())

    def _collect_number(self, value: int | float, found: list[Entry]) -> None:
        found += self._on_number
        number = float(value)
        hit = self._equal.get(number)
        if hit is not None:
            found += hit
        if self._lower:
            found += [entry for _, entry in self._lower[: bisect_right(self._lower_bounds, number)]]
        if self._upper:
            found += [entry for _, entry in self._upper[bisect_left(self._upper_bounds, number) :]]
        for widest, lows, windows in self._window_groups:
            start, end = bisect_left(lows, number - widest), bisect_right(lows, number)
            found += [entry for _, high, entry in windows[start:end] if number <= high]


def _grouped(windows: list[Window]) -> list[tuple[float, list[float], list[Window]]]:
    """Windows by width (each group at most 16 times as wide as its narrowest), sorted by lower bound.

    A value lies in no window of a group that starts further below it than the group's widest.
    """
    groups: dict[int, list[Window]] = {}
    for window in windows:
        groups.setdefault(frexp(max(window[1] - window[0], 0.0))[1] // 4, []).append(window)
    result = []
    for group in groups.values():
        group.sort(key=lambda window: window[0])
        widest = max(high - low for low, high, _ in group)
        result.append((nextafter(max(widest, 0.0), inf), [low for low, _, _ in group], group))
    return result


def _key(value: Any) -> Any:
    """A key of the table of constants: numbers as doubles, booleans apart from numbers."""
    if isinstance(value, bool):
        return (value,)
    return float(value) if isinstance(value, int | float) else value


def _null_guard(chosen: Atom, atoms: list[Atom]) -> str:
    """Why a null need not be looked at: "never" (certainly false), "has" (only if the key is there), ""."""
    if chosen.via == "" and chosen.kind in ("eq", "present"):
        return "never"
    same = {
        atom.kind for atom in atoms if atom.read == chosen.read and atom.via == "" and None not in atom.values
    }
    if same & {"present", "eq"}:
        return "never"
    return "has" if "has" in same else ""
