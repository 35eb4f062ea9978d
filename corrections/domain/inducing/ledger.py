"""The good calls so far, by what is true of them: asking whom a condition would hit costs no re-scan."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from corrections.domain.inducing.features import BOUNDS, Atom, Place, is_beyond

VOCABULARY_KINDS = frozenset(("starts", "is", "flag", "has", "type"))
MEASURED_KINDS = frozenset(kind for kind, _larger in BOUNDS.values())
MIN_SEEN = 20
"""Fewer good calls say nothing about which values a field may have."""
MAX_NOVELTY = 0.02
"""Share of good calls that bring a value never seen before, up to which a field's values count as known."""
NEAR = 0.5
MAX_COMPARED = 1_000
MAX_CALLS = 3_000
"""Good calls kept in one book; the oldest go first."""
MAX_ALL_CALLS = 50_000
MAX_VALUES = 5_000
MAX_MET = 200_000

Book = tuple[str, str]
"""Tool and value of the scope."""


@dataclass(frozen=True)
class Good:
    """A good call: what it is called, its run, and the facts about its input alone."""

    name: str
    run: str
    atoms: frozenset[Atom]
    facts: frozenset[Atom]


class Ledger:
    """Good calls, numbered in the order in which they came, one book for each tool and scope.

    Bounded: a book forgets its oldest call beyond ``MAX_CALLS``, and the book that was not written to for
    longest goes when there are more than ``MAX_ALL_CALLS`` in all. How common facts are is counted for at
    most ``MAX_MET`` facts a book, and values of one field for at most ``MAX_VALUES``.
    """

    def __init__(self) -> None:
        self._calls: dict[Book, dict[int, Good]] = {}
        self._next: Counter[Book] = Counter()
        self._all = 0
        self._holders: dict[Book, dict[Atom, set[int]]] = {}
        self._measured: dict[tuple[Book, Place, str], set[Atom]] = {}
        self._met: dict[Book, Counter[Atom]] = {}
        self._values: dict[tuple[str, Place, str], Counter[Atom]] = {}
        self._texts: dict[str, set[Place]] = {}

    def meet(self, book: Book, atoms: frozenset[Atom]) -> bool:
        """A call of any outcome: how common its facts are, and which places always hold text.

        Says whether a place that always held a text does not in this call.
        """
        met = self._met.setdefault(book, Counter())
        met.update(atoms)
        if len(met) > MAX_MET:
            self._met[book] = Counter({atom: times for atom, times in met.items() if times > 1})
        texts = {atom.place for atom in atoms if atom.kind == "type" and atom.value == "string"}
        always = self._texts.setdefault(book[0], texts)
        self._texts[book[0]] = always & texts
        return not always <= texts

    def add(
        self,
        book: Book,
        name: str,
        atoms: frozenset[Atom],
        *,
        run: str = "",
        more: frozenset[Atom] = frozenset(),
    ) -> None:
        """A call that went well. ``more`` are facts beside those about the values of its input."""
        calls = self._calls.pop(book, {})
        self._calls[book] = calls
        good = Good(name, run, atoms, atoms | more)
        number, self._next[book] = self._next[book], self._next[book] + 1
        holders = self._holders.setdefault(book, {})
        for atom in good.facts:
            holders.setdefault(atom, set()).add(number)
            if atom.kind in VOCABULARY_KINDS:
                values = self._values.setdefault((book[0], atom.place, atom.kind), Counter())
                if atom in values or len(values) < MAX_VALUES:
                    values[atom] += 1
            elif atom.kind in MEASURED_KINDS:
                self._measured.setdefault((book, atom.place, atom.kind), set()).add(atom)
        calls[number] = good
        self._all += 1
        self._forget(book)

    def hit(self, book: Book, all_of: Iterable[Atom], none_of: Iterable[Atom] = ()) -> set[int]:
        """The numbers of the good calls of which all of these facts are true and none of those."""
        found: set[int] | None = None
        for some in sorted((self._having(book, atom) for atom in all_of), key=len):
            found = set(some) if found is None else found & some
            if not found:
                return found
        if found is None:
            found = set(self._calls.get(book, ()))
        for atom in none_of:
            found -= self._having(book, atom)
        return found

    def nearest(self, book: Book, atoms: frozenset[Atom]) -> frozenset[Atom] | None:
        """The facts of the latest good calls that has most in common (Jaccard at least ``NEAR``), if any."""
        best, found = NEAR, None
        calls = self._calls.get(book, {})
        for good in reversed(list(islice(reversed(calls.values()), MAX_COMPARED))):
            other = good.atoms
            if atoms and min(len(atoms), len(other)) >= best * max(len(atoms), len(other)):
                both = len(atoms & other)
                near = both / max(1, len(atoms) + len(other) - both)
                best, found = (near, other) if near >= best else (best, found)
        return found

    def size(self, book: Book) -> int:
        """How many good calls there are."""
        return len(self._calls.get(book, ()))

    def runs(self, book: Book, atom: Atom | None = None) -> int:
        """In how many runs there are good calls; for a bound, such as have a value at its place."""
        calls = self._calls.get(book, {})
        if atom is None:
            return len({good.run for good in calls.values()})
        kind = BOUNDS[atom.kind][0] if atom.kind in BOUNDS else atom.kind
        numbers = {
            number
            for fact in self._measured.get((book, atom.place, kind), ())
            for number in self._holders[book].get(fact, ())
        }
        return len({calls[number].run for number in numbers})

    def measures(self, book: Book, place: Place, kind: str) -> list[float]:
        """The numbers or sizes that good calls have at a place, in order, each once."""
        return sorted(atom.value for atom in self._measured.get((book, place, kind), ()))

    def name(self, book: Book, number: int) -> str:
        """What a good call is called."""
        return self._calls[book][number].name

    def atoms(self, book: Book, number: int) -> frozenset[Atom]:
        """What is true of a good call's input."""
        return self._calls[book][number].atoms

    def commonness(self, book: Book, atom: Atom) -> int:
        """How many calls, good and bad, a fact was true of."""
        return self._met.get(book, Counter())[atom]

    def fields(self, tool: str) -> list[Atom]:
        """The fields that good calls of the tool have, as facts."""
        places = sorted(
            {place for other, place, kind in self._values if other == tool and kind == "has"}, key=repr
        )
        return [Atom(place, "has") for place in places]

    def always_text(self, tool: str) -> frozenset[Place]:
        """The places that hold a text in every call of the tool."""
        return frozenset(self._texts.get(tool, ()))

    def is_foreign(self, tool: str, atom: Atom) -> bool:
        """Whether a value is new where good calls hardly ever bring a new one.

        The chance that the next good call brings a value never seen before is about the share of values seen
        once (Good 1953, "The population frequencies of species").
        """
        if atom.kind not in VOCABULARY_KINDS:
            return False
        known = self._values.get((tool, atom.place, atom.kind), Counter())
        seen = self._tool_good(tool, known, atom)
        if seen < MIN_SEEN or known[atom] or len(known) >= MAX_VALUES:
            return False
        return sum(n == 1 for n in known.values()) <= MAX_NOVELTY * seen

    def _having(self, book: Book, atom: Atom) -> set[int]:
        holders = self._holders.get(book, {})
        if atom.kind not in BOUNDS:
            return holders.get(atom, set())
        measured = self._measured.get((book, atom.place, BOUNDS[atom.kind][0]), set())
        return {number for fact in measured if is_beyond(atom, fact) for number in holders[fact]}

    def _forget(self, book: Book) -> None:
        """Drop what is over the caps, the oldest first."""
        calls = self._calls[book]
        if len(calls) > MAX_CALLS:
            self._drop(book, next(iter(calls)))
        if self._all > MAX_ALL_CALLS:
            oldest = next(iter(self._calls))
            for number in list(self._calls[oldest])[: MAX_ALL_CALLS // 10]:
                self._drop(oldest, number)
            if not self._calls[oldest]:
                del self._calls[oldest], self._holders[oldest]
                self._met.pop(oldest, None)

    def _drop(self, book: Book, number: int) -> None:
        holders = self._holders[book]
        for atom in self._calls[book].pop(number).facts:
            held = holders[atom]
            held.discard(number)
            if not held:
                del holders[atom]
                self._measured.get((book, atom.place, atom.kind), set()).discard(atom)
        self._all -= 1

    def _tool_good(self, tool: str, known: Counter[Atom], atom: Atom) -> int:
        """Good calls that could have had the value: for the name of a field these are all."""
        if atom.kind == "has":
            return sum(len(calls) for (other, _scope), calls in self._calls.items() if other == tool)
        return known.total()
