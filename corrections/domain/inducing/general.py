"""What failing calls whose errors say the same have in common, beyond what each error blames.

One fact that (nearly) all of these runs share and no good call has: a bound of a number or a size, how a
value begins or ends, the environment, the calls before. Calls of one run resemble each other, so runs are
counted; and because many facts are tried, a fact counts only if such a split would hardly come by chance: of
K failing and G good runs all K and none of the G have it with probability 1 / C(K + G, K) (Fisher's exact
test), times the number of facts tried (Bonferroni).
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from math import comb, floor, log10

from corrections.domain.inducing.covering import Clause
from corrections.domain.inducing.features import BOUNDS, Atom, is_true
from corrections.domain.inducing.groups import Group, Seen
from corrections.domain.inducing.ledger import Book, Ledger
from corrections.domain.inducing.recovering import MissingStep

MIN_RUNS = 3
MIN_GOOD = 5
MAX_CHANCE = 0.05
MOSTLY = 0.8
"""Share of the failing runs that a fact must be true of."""
MAX_POSITIVES = 200
MAX_EXCEPTIONS = 3
_ORDER = ("above", "below", "longer", "shorter", "null", "blank", "type", "starts", "ends", "flag", "env",
          "previous", "after_error", "passed")  # fmt: skip
"""Kinds that say more than the value an error blames, what is preferred first."""
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


def generalise(group: Group, book: Book, ledger: Ledger) -> Clause | None:
    """The most telling fact that the failing calls of a family share and no good call has."""
    failing = list(group.failing.values())[-MAX_POSITIVES:]
    runs = {seen.call.run for seen in failing}
    if len(runs) < MIN_RUNS or ledger.size(book) < MIN_GOOD:
        return None
    shared = _shared_facts(failing, len(runs))
    bounds = list(_bounds(failing, book, ledger))
    tried = len(shared) + 2 * len(bounds)
    good = ledger.runs(book)
    found: list[tuple[tuple[int, int, str], Atom]] = []
    for atom in (*shared, *bounds):
        if ledger.hit(book, (atom,)):
            continue
        held = len({seen.call.run for seen in failing if is_true(atom, seen.facts)})
        against = ledger.runs(book, atom) if atom.kind in BOUNDS else good
        chances = 1 if _is_blamed(atom, group) else tried
        if held >= MOSTLY * len(runs) and chances / comb(held + against, held) <= MAX_CHANCE:
            found.append(((-held, _ORDER.index(atom.kind), repr(atom)), atom))
    return Clause(frozenset((min(found)[1],))) if found else None


def _is_blamed(atom: Atom, group: Group) -> bool:
    """Whether every error of the family blames what stands at the place of a fact."""
    return all(any(fact.place == atom.place for fact in member.blamed) for member in group.members)


def step_clause(step: MissingStep, group: Group, book: Book, ledger: Ledger) -> Clause | None:
    """When the step is missing: it was not made before, with the same value where that is what it is for."""
    failing = list(group.failing.values())[-MAX_POSITIVES:]
    passed = [Atom((source,), "passed", (step.tool, name)) for name, source in step.passed]
    facts = [fact for fact in (Atom((), "called", step.tool), *passed) if _mostly_lack(fact, failing)]
    for fact in facts:
        for clause in _with_base(fact, failing):
            if not ledger.hit(book, clause.all_of, clause.none_of):
                return clause
    return _with_exceptions([fact for fact in facts if fact.place], failing, book, ledger)


def _mostly_lack(fact: Atom, failing: Sequence[Seen]) -> bool:
    lacking = {seen.call.run for seen in failing if fact not in seen.facts}
    return len(lacking) >= MOSTLY * len({seen.call.run for seen in failing})


def _with_base(fact: Atom, failing: Sequence[Seen]) -> Iterator[Clause]:
    """The missing step alone, then with one fact that all failing calls share."""
    yield Clause(frozenset(), frozenset((fact,)))
    runs = len({seen.call.run for seen in failing})
    if runs >= MIN_RUNS:
        for atom in sorted(_shared_facts(failing, runs), key=lambda a: (_ORDER.index(a.kind), repr(a))):
            yield Clause(frozenset((atom,)), frozenset((fact,)))


def _with_exceptions(
    facts: Sequence[Atom], failing: Sequence[Seen], book: Book, ledger: Ledger
) -> Clause | None:
    """The step with the same value is missing, but for the few values that are known to need none."""
    for fact in facts:
        lacking = [seen.facts for seen in failing if fact not in seen.facts]
        denied = {fact}
        hit = ledger.hit(book, (), denied)
        while hit and len(denied) <= min(MAX_EXCEPTIONS, len(lacking) // MIN_RUNS):
            values = Counter(
                atom
                for number in hit
                for atom in ledger.atoms(book, number)
                if atom.kind == "is"
                and atom.place == fact.place
                and not any(atom in some for some in lacking)
            )
            if not values:
                break
            denied.add(max(values, key=lambda atom: (values[atom], repr(atom))))
            hit = ledger.hit(book, (), denied)
        if not hit:
            return Clause(frozenset(), frozenset(denied))
    return None


def _shared_facts(failing: Sequence[Seen], runs: int) -> list[Atom]:
    held: dict[str, set[Atom]] = {}
    for seen in failing:
        held.setdefault(seen.call.run, set()).update(seen.facts)
    counted = Counter(atom for facts in held.values() for atom in facts if atom.kind in _ORDER)
    return [atom for atom, times in counted.items() if times >= MOSTLY * runs]


def _bounds(failing: Sequence[Seen], book: Book, ledger: Ledger) -> Iterator[Atom]:
    """Bounds that leave every good value on one side and every failing one on the other."""
    values: dict[tuple[tuple[str | None, ...], str], list[float]] = {}
    for seen in failing:
        for atom in seen.facts:
            if atom.kind in ("number", "size"):
                values.setdefault((atom.place, atom.kind), []).append(atom.value)
    said = {float(text) for seen in failing[-3:] for text in _NUMBER.findall(seen.call.message[:1_000])}
    for (place, kind), wrong in sorted(values.items(), key=repr):
        right = ledger.measures(book, place, kind)
        if len(set(right)) < MIN_GOOD or len(set(wrong)) < 2:
            continue
        if right[-1] < min(wrong):
            yield Atom(
                place, "above" if kind == "number" else "longer", _between(right[-1], min(wrong), said)
            )
        elif max(wrong) < right[0]:
            yield Atom(
                place, "below" if kind == "number" else "shorter", _between(right[0], max(wrong), said)
            )


def _between(right: float, wrong: float, said: set[float]) -> float:
    """A limit on the side of the good values: one that the message says, or the roundest that there is."""
    low, high = min(right, wrong), max(right, wrong)
    told = [number for number in said if low <= number <= high and number != wrong]
    if told:
        return min(told, key=lambda number: abs(number - right))
    middle = (low + high) / 2
    for digits in range(8):
        size = 10.0 ** (floor(log10(abs(middle) or 1.0)) - digits)
        rounded = round(middle / size) * size
        rounded = round(rounded, 10)
        if low <= rounded <= high and rounded != wrong:
            return rounded
    return right
