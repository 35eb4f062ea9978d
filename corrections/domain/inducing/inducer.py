"""The inducer's memory: told one call after another, it keeps its proposals true to what it has seen."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from corrections.domain.inducing.blaming import Said, blame, lacks
from corrections.domain.inducing.calls import ObservedCall
from corrections.domain.inducing.covering import Clause, cover, repeat
from corrections.domain.inducing.dividing import Mended, Parts, divide
from corrections.domain.inducing.edits import Edit, edit_between
from corrections.domain.inducing.features import Atom, atoms_of
from corrections.domain.inducing.ledger import Book, Ledger
from corrections.domain.inducing.proposals import (
    Action,
    Changes,
    Evidence,
    Joined,
    Proposal,
    ask_first,
    join,
    propose,
)
from corrections.domain.inducing.repairs import Swap, best_fix, swaps_between, word_edit
from corrections.domain.inducing.repeats import RepeatKey, Repeats
from hgmem.rules import Rule, RuleError

MAX_OPEN_RUNS = 1_000
MAX_RUN_CALLS = 500
MAX_KEPT = 1_000


@dataclass(frozen=True)
class _Seen:
    call: ObservedCall
    atoms: frozenset[Atom]


@dataclass(frozen=True)
class _Mistake:
    """What makes failing calls one group: tool, scope, and what the error blames (or says)."""

    tool: str
    scope: tuple[str, str]
    blamed: tuple[Atom, ...]
    lacking: tuple[Atom, ...] = ()
    template: str = ""

    @property
    def book(self) -> Book:
        return self.tool, self.scope[1]


@dataclass
class _Group:
    failing: dict[str, _Seen] = field(default_factory=dict)
    edits: dict[str, Edit | None] = field(default_factory=dict)
    parts: Parts = field(default_factory=dict)
    blamed: set[str] = field(default_factory=set)
    ask: Action | None = None
    """What to do where no edit is known; None while no error has blamed it."""

    def mended(self) -> list[Mended]:
        """The failing calls with the edit of each."""
        return [
            Mended(seen.call.run, seen.atoms, name in self.edits, self.edits.get(name), name in self.blamed)
            for name, seen in self.failing.items()
        ]

    def holds(self, atoms: frozenset[Atom]) -> bool:
        """Whether any of its conditions holds of a call."""
        return any(clause.holds(atoms) for clauses in self.parts.values() for clause in clauses)


class Inducer:
    """Learns from calls in the order in which they happened.

    A new kind of mistake waits until its run is over, because the rest of the run shows what the call should
    have been; what is known already learns from every call at once. Nothing is proposed that would hit a good
    call.
    """

    def __init__(self) -> None:
        self._ledger = Ledger()
        self._groups: dict[_Mistake, _Group] = {}
        self._by_fact: dict[tuple[Book, Atom | None], list[_Mistake]] = {}
        self._by_action: dict[tuple[_Mistake, Action], dict[_Mistake, None]] = {}
        self._open: dict[str, list[_Seen]] = {}
        self._made: dict[object, dict[str, Proposal]] = {}
        self._repeats = Repeats()
        self._taken: dict[str, bool] = {}
        self._told: dict[str, Proposal] = {}

    def learn(self, call: ObservedCall) -> None:
        """One more call and how it went."""
        seen = _Seen(call, atoms_of(call.input))
        book = (call.tool, call.scope()[1])
        if self._ledger.meet(book, seen.atoms):
            for bucket in [bucket for bucket in self._by_action if bucket[0].tool == call.tool]:
                self._propose(bucket)
        for key in self._repeats.meet(call.tool, call.scope(), call.input, failed=call.failed):
            self._propose_repeat(key)
        run = self._open.setdefault(call.run, [])
        if len(run) < MAX_RUN_CALLS:
            run.append(seen)
        if call.failed:
            mistake = self._mistake(seen)
            if mistake in self._groups and self._groups[mistake].ask is not None:
                self._add(mistake, seen)
                self._induce(mistake)
        else:
            self._ledger.add(book, call.id, seen.atoms)
            for mistake in self._hit_by(book, seen.atoms):
                self._induce(mistake)
        if len(self._open) > MAX_OPEN_RUNS:
            self.end_run(next(iter(self._open)))

    def end_run(self, run: str) -> None:
        """A run is over: new mistakes become groups, and failing calls meet the calls that then worked."""
        calls = self._open.pop(run, [])
        changed: dict[_Mistake, None] = {}
        for at, seen in enumerate(calls):
            if not seen.call.failed:
                continue
            mistake = self._mistake(seen)
            self._add(mistake, seen)
            changed[mistake] = None
            changed |= dict.fromkeys(self._pair(mistake, seen, calls[at + 1 :]))
        for mistake in changed:
            self._induce(mistake)

    def proposals(self) -> list[Proposal]:
        """Everything proposed now."""
        return [proposal for made in self._made.values() for proposal in made.values()]

    def changes(self) -> Changes:
        """What was proposed, gained evidence or was withdrawn since this was last asked."""
        now = {proposal.key: proposal for proposal in self.proposals()}
        told, self._told = self._told, now
        return Changes(
            proposed=tuple(new for key, new in now.items() if key not in told),
            updated=tuple(new for key, new in now.items() if key in told and told[key] != new),
            withdrawn=tuple(key for key in told if key not in now),
        )

    # --- groups ---------------------------------------------------------------------------------

    def _mistake(self, seen: _Seen) -> _Mistake:
        call = seen.call
        pattern, scope = call.pattern(), call.scope()
        said = Said(seen.atoms, pattern.identifier, call.message)
        book = (call.tool, scope[1])
        lacking = lacks(said, book, self._ledger)
        blamed = () if lacking else blame(said, book, self._ledger)
        return _Mistake(call.tool, scope, blamed, lacking, "" if blamed or lacking else pattern.template)

    def _add(self, mistake: _Mistake, seen: _Seen, *, is_blamed: bool = True) -> None:
        group = self._groups.get(mistake)
        if group is None:
            group = self._groups[mistake] = _Group()
            for fact in mistake.blamed[:1] or (None,):
                self._by_fact.setdefault((mistake.book, fact), []).append(mistake)
        if is_blamed:
            group.blamed.add(seen.call.id)
            group.ask = group.ask or ask_first(seen.call.message)
        group.failing[seen.call.id] = seen
        if len(group.failing) > MAX_KEPT:
            oldest = next(iter(group.failing))
            del group.failing[oldest]
            group.edits.pop(oldest, None)
            group.blamed.discard(oldest)

    def _pair(self, mistake: _Mistake, seen: _Seen, later: Sequence[_Seen]) -> list[_Mistake]:
        """The working call that repairs it shows the edit; which other words it shows to be wrong."""
        call = seen.call
        fixed = best_fix(
            call.input, (it.call.input for it in later if it.call.tool == call.tool and not it.call.failed)
        )
        if fixed is None:
            return []
        swaps = swaps_between(call.input, fixed)
        edit = word_edit(mistake.blamed, swaps) or edit_between(call.input, fixed)
        self._groups[mistake].edits[call.id] = edit
        for key in self._repeats.pair(
            call.tool, call.scope(), call.input, fixed, name=call.id, run=call.run, message=call.message
        ):
            self._propose_repeat(key)
        return [other for swap in swaps if (other := self._also_wrong(mistake, seen, swap)) is not None]

    def _also_wrong(self, mistake: _Mistake, seen: _Seen, swap: Swap) -> _Mistake | None:
        """A word that the run replaced as well and that no good call ever had."""
        atom = Atom(swap.place, "word", swap.old)
        if atom in mistake.blamed or atom not in seen.atoms or self._ledger.hit(mistake.book, (atom,)):
            return None
        other = _Mistake(mistake.tool, mistake.scope, (atom,))
        self._add(other, seen, is_blamed=False)
        self._groups[other].edits[seen.call.id] = word_edit((atom,), (swap,))
        return other

    def _hit_by(self, book: Book, atoms: frozenset[Atom]) -> list[_Mistake]:
        """The groups with a condition that holds of a good call."""
        found = [
            mistake
            for fact in (None, *atoms)
            for mistake in self._by_fact.get((book, fact), ())
            if self._groups[mistake].holds(atoms)
        ]
        return sorted(found, key=repr)

    # --- proposals ------------------------------------------------------------------------------

    def _induce(self, mistake: _Mistake) -> None:
        """Find the conditions of a group anew, then what is proposed with the same action."""
        group = self._groups[mistake]
        before = group.parts
        if mistake.blamed or mistake.lacking:
            base = Clause(frozenset(mistake.blamed), frozenset(mistake.lacking))
        else:
            base = Clause(frozenset())
        group.parts = divide(base, group.mended(), group.ask, partial(self._cover, mistake.book))
        for action in before.keys() - group.parts.keys():
            self._by_action.get(self._bucket(mistake, action), {}).pop(mistake, None)
        for action in group.parts:
            self._by_action.setdefault(self._bucket(mistake, action), {})[mistake] = None
        for action in before | group.parts:
            self._propose(self._bucket(mistake, action))

    def _cover(self, book: Book, base: Clause, positives: Sequence[frozenset[Atom]]) -> list[Clause]:
        if base.all_of or base.none_of:
            return cover(base, positives, book, self._ledger)
        return repeat(positives, book, self._ledger)

    @staticmethod
    def _bucket(mistake: _Mistake, action: Action) -> tuple[_Mistake, Action]:
        return _Mistake(mistake.tool, mistake.scope, ()), action

    def _propose(self, bucket: tuple[_Mistake, Action]) -> None:
        mistakes = self._by_action.get(bucket, {})
        where, action = bucket
        evidence = Evidence(good=self._ledger.size(where.book))
        clauses: list[Clause] = []
        for mistake in mistakes:
            group = self._groups[mistake]
            clauses += group.parts.get(action, ())
            evidence.failing += [(seen.call.id, seen.call.run, seen.atoms) for seen in group.failing.values()]
        made = [self._proposal(where, joined, action, evidence) for joined in join(clauses)]
        self._made[bucket] = {proposal.key: proposal for proposal in made if proposal is not None}

    def _proposal(
        self, where: _Mistake, joined: Joined, action: Action, evidence: Evidence
    ) -> Proposal | None:
        """One rule with its backtest; None for one that the engine does not take."""
        hit: set[int] = set()
        for extra in joined.any_of or (None,):
            facts = joined.all_of if extra is None else joined.all_of | {extra}
            hit |= self._ledger.hit(where.book, facts, joined.none_of)
        names = tuple(self._ledger.name(where.book, number) for number in sorted(hit))
        texts = self._ledger.always_text(where.tool)
        proposal = propose(where.tool, where.scope, joined, action, replace(evidence, hit=names), texts)
        return proposal if proposal is not None and self._is_rule(proposal) else None

    def _propose_repeat(self, key: RepeatKey) -> None:
        found = self._repeats.rule(key)
        self._made.pop(key, None)
        if found is not None:
            joined, action, evidence = found
            book = key.tool, key.scope[1]
            evidence = replace(evidence, good=self._ledger.size(book))
            texts = self._ledger.always_text(key.tool)
            proposal = propose(key.tool, key.scope, joined, action, evidence, texts)
            if proposal is not None and self._is_rule(proposal):
                self._made[key] = {proposal.key: proposal}

    def _is_rule(self, proposal: Proposal) -> bool:
        if proposal.key not in self._taken:
            try:
                Rule.from_document(proposal.document() | {"uuid": proposal.key})
            except RuleError:
                self._taken[proposal.key] = False
            else:
                self._taken[proposal.key] = True
        return self._taken[proposal.key]
