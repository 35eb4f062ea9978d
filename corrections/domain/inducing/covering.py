"""The smallest sets of facts that hold of failing calls and of no good one.

Greedy covering with FOIL's gain (Quinlan 1990, "Learning logical definitions from relations"), grown until
every good call that has the blamed facts is kept out by ``MARGIN`` of the others: a call that one chance word
keeps out is a near miss and says little about the next one.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from math import log2

from corrections.domain.inducing.features import Atom, excludes, implies, is_true
from corrections.domain.inducing.ledger import Book, Ledger

MARGIN = 2
MAX_FACTS = 12
MAX_CLAUSES = 40
MAX_POSITIVES = 100
MAX_REPEATED = 20
MAX_RANKED = 120
MAX_WATCHED = 500
"""Good calls looked at while a clause grows, the newest; in the end no good call may be hit."""
MAX_TRIED = 400
"""Facts tried in one step of growing, the most common ones."""
POSITIVE_KINDS = frozenset(
    ("is", "number", "flag", "word", "part", "pair", "starts", "null", "blank", "type")
)
NEGATIVE_KINDS = frozenset(("is", "number", "flag", "word", "part", "has"))


@dataclass(frozen=True)
class Clause:
    """A condition as facts: all of these, none of those."""

    all_of: frozenset[Atom]
    none_of: frozenset[Atom] = frozenset()

    def holds(self, atoms: frozenset[Atom]) -> bool:
        """Whether it holds of a call."""
        return all(is_true(atom, atoms) for atom in self.all_of) and not any(
            is_true(atom, atoms) for atom in self.none_of
        )


def cover(base: Clause, positives: Sequence[frozenset[Atom]], book: Book, ledger: Ledger) -> list[Clause]:
    """Clauses that say what is blamed (``base``), cover failing calls and hit no good call.

    A failing call that cannot be told from a good one is left out.
    """
    left = list(positives[-MAX_POSITIVES:])
    found: list[Clause] = []
    while left and len(found) < MAX_CLAUSES:
        clause = _Growing(base, left, book, ledger).grow()
        rest = [atoms for atoms in left if not clause.holds(atoms)] if clause else left
        left = rest if len(rest) < len(left) else left[1:]
        if clause:
            found.append(clause)
    return list(dict.fromkeys(found))


def repeat(positives: Sequence[frozenset[Atom]], book: Book, ledger: Ledger) -> list[Clause]:
    """Clauses for calls of which the error blames nothing: as special as the calls themselves.

    Two calls are joined by what they share while no good call has all of it (their least general
    generalisation, Plotkin 1970); then the facts that are rarest among all calls stand for it.
    """
    found: list[Clause] = []
    latest = positives[-MAX_REPEATED:]
    for atoms in latest:
        shared = _shared(atoms, latest, book, ledger)
        clause = _contrast(shared, book, ledger) or _specific(shared, atoms, book, ledger)
        if clause and len(found) < MAX_CLAUSES:
            found.append(clause)
    return list(dict.fromkeys(found))


def _shared(
    atoms: frozenset[Atom], others: Sequence[frozenset[Atom]], book: Book, ledger: Ledger
) -> frozenset[Atom]:
    shared = atoms
    for other in others:
        both = shared & other
        telling = sum(atom.kind in POSITIVE_KINDS for atom in both)
        if telling and not ledger.hit(book, both):
            shared = both
    return shared


def _contrast(shared: frozenset[Atom], book: Book, ledger: Ledger) -> Clause | None:
    """What sets failing calls apart from the good call that is most like them."""
    nearest = ledger.nearest(book, shared)
    if nearest is None:
        return None
    apart = sorted(
        (atom for atom in shared - nearest if atom.kind in POSITIVE_KINDS),
        key=lambda atom: (ledger.commonness(book, atom), repr(atom)),
    )
    all_of = frozenset(_without_implied(apart[:MAX_RANKED])[:MAX_FACTS])
    return Clause(all_of) if all_of and not ledger.hit(book, all_of) else None


def _specific(shared: frozenset[Atom], atoms: frozenset[Atom], book: Book, ledger: Ledger) -> Clause | None:
    ranked = sorted(
        (atom for atom in shared if atom.kind in POSITIVE_KINDS),
        key=lambda atom: (ledger.commonness(book, atom), repr(atom)),
    )
    all_of = frozenset(_without_implied(ranked[:MAX_RANKED])[:MAX_FACTS])
    none_of: set[Atom] = set()
    hit = ledger.hit(book, all_of)
    while hit and len(none_of) < MAX_FACTS:
        against = Counter(
            atom
            for number in hit
            for atom in ledger.atoms(book, number)
            if atom.kind in NEGATIVE_KINDS and atom not in atoms
        )
        if not against:
            return None
        worst = max(against, key=lambda atom: (against[atom], ledger.commonness(book, atom), repr(atom)))
        none_of.add(worst)
        hit = ledger.hit(book, all_of, none_of)
    return Clause(all_of, frozenset(none_of)) if all_of and not hit else None


def _without_implied(atoms: list[Atom]) -> list[Atom]:
    """Facts without those that another one of them says already."""
    return [atom for atom in atoms if not any(implies(other, atom) for other in atoms)]


class _Growing:
    """One clause on its way: the failing calls it covers, the good calls and how often each is kept out."""

    def __init__(self, base: Clause, positives: list[frozenset[Atom]], book: Book, ledger: Ledger) -> None:
        self._book, self._ledger = book, ledger
        self._all_of, self._none_of = set(base.all_of), set(base.none_of)
        self._taken: list[Atom] = []
        self._covered = positives
        self._good: dict[int, frozenset[Atom]] = {}
        self._kept_out: dict[int, int] = {}
        self._watch(self._hit())

    def grow(self) -> Clause | None:
        """The clause, None when some good call cannot be kept out."""
        for _step in range(MAX_FACTS):
            near = [number for number, times in self._kept_out.items() if times < MARGIN]
            inside = [number for number in near if not self._kept_out[number]]
            best = self._best([self._good[number] for number in inside or near]) if near else None
            if best is not None:
                self._take(*best)
            elif inside or not self._watch(self._hit()):
                break
        if self._hit():
            return None
        return self._pruned()

    def _hit(self) -> set[int]:
        return self._ledger.hit(self._book, self._all_of, self._none_of)

    def _watch(self, numbers: set[int]) -> bool:
        """Take the newest of these good calls into account; others are looked at when they are still hit."""
        new = [number for number in sorted(numbers)[-MAX_WATCHED:] if number not in self._good]
        for number in new:
            atoms = self._good[number] = self._ledger.atoms(self._book, number)
            self._kept_out[number] = sum((atom in atoms) == (atom in self._none_of) for atom in self._taken)
        return bool(new)

    def _take(self, atom: Atom, is_negative: bool) -> None:
        self._taken.append(atom)
        (self._none_of if is_negative else self._all_of).add(atom)
        for number, atoms in self._good.items():
            self._kept_out[number] += (atom in atoms) == is_negative
        self._covered = [atoms for atoms in self._covered if (atom in atoms) != is_negative]

    def _pruned(self) -> Clause:
        """The clause without what later facts made needless; good calls stay kept out as often as asked."""
        whole = Clause(frozenset(self._all_of), frozenset(self._none_of))
        asked = {number: min(times, MARGIN) for number, times in self._kept_out.items()}
        for atom in self._taken:
            is_negative = atom in self._none_of
            left = {
                number: times - ((atom in self._good[number]) == is_negative)
                for number, times in self._kept_out.items()
            }
            if all(left[number] >= asked[number] for number in left):
                (self._none_of if is_negative else self._all_of).discard(atom)
                self._kept_out = left
        return whole if self._hit() else Clause(frozenset(self._all_of), frozenset(self._none_of))

    def _best(self, good: list[frozenset[Atom]]) -> tuple[Atom, bool] | None:
        """The fact (and whether it must not hold) with the highest gain; the most common of equals."""
        before = log2(len(self._covered) / (len(self._covered) + len(good)))
        best: tuple[tuple[float, int, str], Atom, bool] | None = None
        for atom, covered, left, is_negative in self._candidates(good):
            gain = covered * (log2(covered / (covered + left)) - before)
            score = (round(gain, 9), self._ledger.commonness(self._book, atom), repr(atom))
            if gain > 0 and (best is None or score > best[0]):
                best = (score, atom, is_negative)
        return best[1:] if best else None

    def _candidates(self, good: list[frozenset[Atom]]) -> Iterator[tuple[Atom, int, int, bool]]:
        """Facts with the failing calls that stay covered and the good calls that are still hit."""
        among_good = Counter(atom for atoms in good for atom in atoms)
        among_failing = Counter(atom for atoms in self._covered for atom in atoms)
        for atom, covered in _most_common(among_failing, POSITIVE_KINDS):
            if among_good[atom] < len(good) and not self._is_said(atom):
                yield atom, covered, among_good[atom], False
        for atom, kept_out in _most_common(among_good, NEGATIVE_KINDS):
            if atom not in among_failing and not self._is_denied(atom):
                yield atom, len(self._covered), len(good) - kept_out, True

    def _is_said(self, atom: Atom) -> bool:
        """Whether the clause says so already: no more is known when it is said again."""
        return atom in self._all_of or any(implies(other, atom) for other in self._all_of)

    def _is_denied(self, atom: Atom) -> bool:
        denied = atom in self._none_of or any(implies(atom, other) for other in self._none_of)
        return denied or any(excludes(other, atom) for other in self._all_of)


def _most_common(counted: Counter[Atom], kinds: frozenset[str]) -> list[tuple[Atom, int]]:
    """At most about ``MAX_TRIED`` facts; of a crowd of equally rare ones none, unless there is no other."""
    some = [(atom, n) for atom, n in counted.items() if atom.kind in kinds]
    if len(some) > MAX_TRIED:
        cut = sorted((n for _atom, n in some), reverse=True)[MAX_TRIED]
        some = [item for item in some if item[1] > cut] or nsmallest(MAX_TRIED, some, key=repr)
    return some
