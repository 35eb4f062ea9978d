"""The good calls so far, by what is true of them: asking whom a condition would hit costs no re-scan."""

from collections import Counter
from collections.abc import Iterable

from corrections.domain.inducing.features import Atom, Place

VOCABULARY_KINDS = frozenset(("starts", "is", "flag", "has", "type"))
MIN_SEEN = 20
"""Fewer good calls say nothing about which values a field may have."""
MAX_NOVELTY = 0.02
"""Share of good calls that bring a value never seen before, up to which a field's values count as known."""
NEAR = 0.5
MAX_COMPARED = 1_000

Book = tuple[str, str]
"""Tool and value of the scope."""


class Ledger:
    """Good calls, numbered in the order in which they came, one book for each tool and scope."""

    def __init__(self) -> None:
        self._calls: dict[Book, list[tuple[str, frozenset[Atom]]]] = {}
        self._holders: dict[Book, dict[Atom, set[int]]] = {}
        self._met: dict[Book, Counter[Atom]] = {}
        self._values: dict[tuple[str, Place, str], Counter[Atom]] = {}
        self._texts: dict[str, set[Place]] = {}

    def meet(self, book: Book, atoms: frozenset[Atom]) -> bool:
        """A call of any outcome: how common its facts are, and which places always hold text.

        Says whether a place that always held a text does not in this call.
        """
        self._met.setdefault(book, Counter()).update(atoms)
        texts = {atom.place for atom in atoms if atom.kind == "type" and atom.value == "string"}
        always = self._texts.setdefault(book[0], texts)
        self._texts[book[0]] = always & texts
        return not always <= texts

    def add(self, book: Book, name: str, atoms: frozenset[Atom]) -> None:
        """A call that went well."""
        calls = self._calls.setdefault(book, [])
        holders = self._holders.setdefault(book, {})
        for atom in atoms:
            holders.setdefault(atom, set()).add(len(calls))
            if atom.kind in VOCABULARY_KINDS:
                key = (book[0], atom.place, atom.kind)
                self._values.setdefault(key, Counter())[atom] += 1
        calls.append((name, atoms))

    def hit(self, book: Book, all_of: Iterable[Atom], none_of: Iterable[Atom] = ()) -> set[int]:
        """The numbers of the good calls of which all of these facts are true and none of those."""
        holders = self._holders.get(book, {})
        found: set[int] | None = None
        for some in sorted((holders.get(atom, set()) for atom in all_of), key=len):
            found = set(some) if found is None else found & some
            if not found:
                return found
        if found is None:
            found = set(range(self.size(book)))
        for atom in none_of:
            found -= holders.get(atom, set())
        return found

    def nearest(self, book: Book, atoms: frozenset[Atom]) -> frozenset[Atom] | None:
        """The facts of the latest good calls that has most in common (Jaccard at least ``NEAR``), if any."""
        best, found = NEAR, None
        for _name, other in self._calls.get(book, [])[-MAX_COMPARED:]:
            if min(len(atoms), len(other)) >= best * max(len(atoms), len(other)):
                both = len(atoms & other)
                near = both / (len(atoms) + len(other) - both)
                best, found = (near, other) if near >= best else (best, found)
        return found

    def size(self, book: Book) -> int:
        """How many good calls there are."""
        return len(self._calls.get(book, ()))

    def name(self, book: Book, number: int) -> str:
        """What a good call is called."""
        return self._calls[book][number][0]

    def atoms(self, book: Book, number: int) -> frozenset[Atom]:
        """What is true of a good call."""
        return self._calls[book][number][1]

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
        if seen < MIN_SEEN or known[atom]:
            return False
        return sum(n == 1 for n in known.values()) <= MAX_NOVELTY * seen

    def _tool_good(self, tool: str, known: Counter[Atom], atom: Atom) -> int:
        """Good calls that could have had the value: for the name of a field these are all."""
        if atom.kind == "has":
            return sum(len(calls) for (other, _scope), calls in self._calls.items() if other == tool)
        return known.total()
