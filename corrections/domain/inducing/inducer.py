"""The inducer's memory: told one call after another, it keeps its proposals true to what it has seen."""

from collections.abc import Iterable
from dataclasses import replace

from corrections.domain.inducing.acting import action_of, needed_step, step_action
from corrections.domain.inducing.blaming import Said, blame, lacks
from corrections.domain.inducing.calls import ObservedCall
from corrections.domain.inducing.covering import Clause, cover, repeat
from corrections.domain.inducing.edits import edit_between
from corrections.domain.inducing.features import Atom, atoms_of
from corrections.domain.inducing.general import generalise, step_clause
from corrections.domain.inducing.groups import Group, Mistake, Seen
from corrections.domain.inducing.ledger import Book, Ledger
from corrections.domain.inducing.proposals import Action, Changes, Evidence, Joined, Proposal, join, propose
from corrections.domain.inducing.recovering import recoveries_of
from corrections.domain.inducing.surroundings import surroundings_of
from corrections.domain.inducing.traits import traits_of
from hgmem.rules import Rule, RuleError

MAX_OPEN_RUNS = 1_000
MAX_RUN_CALLS = 500
MAX_GROUPS = 5_000
MAX_TAKEN = 20_000


class Inducer:
    """Learns from calls in the order in which they happened.

    A new kind of mistake waits until its run is over, because the rest of the run shows what the call should
    have been; what is known already learns from every call at once. Nothing is proposed that would hit a good
    call.

    Memory is bounded: ``MAX_OPEN_RUNS`` runs of ``MAX_RUN_CALLS`` calls, ``MAX_GROUPS`` mistakes of
    ``groups.MAX_KEPT`` failing calls each, and the good calls that ``Ledger`` keeps. The oldest are dropped, and
    a mistake's proposals go with it.
    """

    def __init__(self) -> None:
        self._ledger = Ledger()
        self._groups: dict[Mistake, Group] = {}
        self._general: dict[tuple[str, tuple[str, str]], dict[Mistake, None]] = {}
        self._by_fact: dict[tuple[Book, Atom | None], dict[Mistake, None]] = {}
        self._by_action: dict[tuple[Mistake, Action], dict[Mistake, None]] = {}
        self._open: dict[str, list[Seen]] = {}
        self._made: dict[tuple[Mistake, Action], dict[str, Proposal]] = {}
        self._taken: dict[str, bool] = {}
        self._told: dict[str, Proposal] = {}

    def learn(self, call: ObservedCall) -> None:
        """One more call and how it went."""
        run = self._open.setdefault(call.run, [])
        seen = self._see(call, run)
        book = (call.tool, call.scope()[1])
        if self._ledger.meet(book, seen.atoms):
            for bucket in [bucket for bucket in self._by_action if bucket[0].tool == call.tool]:
                self._propose(bucket)
        if len(run) < MAX_RUN_CALLS:
            run.append(seen)
        if call.failed:
            mistake, family = self._mistakes(seen)
            if mistake in self._groups:
                self._add(mistake, family, seen)
                self._induce_family(family)
                self._induce(mistake)
        else:
            self._ledger.add(book, call.id, seen.atoms, run=call.run, more=seen.more)
            for mistake in self._hit_by(book, seen.facts):
                self._induce_any(mistake)
        if len(self._open) > MAX_OPEN_RUNS:
            self.end_run(next(iter(self._open)))

    def end_run(self, run: str) -> None:
        """A run is over: new mistakes become groups, and failing calls meet the calls that then worked."""
        calls = self._open.pop(run, [])
        changed: dict[Mistake, None] = {}
        families: dict[Mistake, None] = {}
        for at, seen in enumerate(calls):
            if not seen.call.failed:
                continue
            mistake, family = self._mistakes(seen)
            self._add(mistake, family, seen)
            changed[mistake] = families[family] = None
            self._pair(mistake, family, seen, calls[at + 1 :])
        for family in families:
            self._induce_family(family)
        for mistake in changed:
            self._induce(mistake)
        self._forget()

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

    @staticmethod
    def _see(call: ObservedCall, run: list[Seen]) -> Seen:
        past = call.history
        if past is None:
            past = tuple(seen.call.past() for seen in run)
        return Seen(call, atoms_of(call.input), traits_of(call.input) | surroundings_of(call, past))

    def _mistakes(self, seen: Seen) -> tuple[Mistake, Mistake]:
        """The mistake that a failing call is, and its family."""
        call = seen.call
        pattern, scope = call.pattern(), call.scope()
        said = Said(seen.atoms, pattern.identifier, call.message)
        book = (call.tool, scope[1])
        lacking = lacks(said, book, self._ledger)
        blamed = () if lacking else blame(said, book, self._ledger)
        own = "" if blamed or lacking else pattern.template
        family = Mistake(call.tool, scope, template=pattern.template, is_family=True)
        return Mistake(call.tool, scope, blamed, lacking, own), family

    def _add(self, mistake: Mistake, family: Mistake, seen: Seen) -> None:
        for some in (mistake, family):
            group = self._groups.get(some)
            if group is None:
                group = self._groups[some] = Group()
                for fact in some.blamed[:1] or (None,):
                    self._by_fact.setdefault((some.book, fact), {})[some] = None
            group.add(seen)
        self._groups[family].members[mistake] = None

    def _pair(self, mistake: Mistake, family: Mistake, seen: Seen, later: Iterable[Seen]) -> None:
        """What the rest of the run shows: the next call of the tool that worked, a step made before it."""
        calls = [other.call for other in later]
        for other in calls:
            if other.tool == seen.call.tool and not other.failed:
                edit = edit_between(seen.call.input, other.input)
                self._groups[mistake].edits[seen.call.id] = (seen.call.run, edit)
                break
        recoveries = recoveries_of(seen.call, calls)
        for some in (mistake, family) if recoveries else ():
            self._groups[some].recoveries[seen.call.id] = recoveries

    def _hit_by(self, book: Book, facts: frozenset[Atom]) -> list[Mistake]:
        """The groups with a condition that holds of a good call."""
        found = [
            mistake
            for fact in (None, *facts)
            for mistake in self._by_fact.get((book, fact), ())
            if self._groups[mistake].holds(facts)
        ]
        return sorted(found, key=repr)

    def _forget(self) -> None:
        """Drop the oldest mistakes that are too many."""
        while len(self._groups) > MAX_GROUPS:
            oldest = next(iter(self._groups))
            group = self._groups[oldest]
            self._set(oldest, (), group.action)
            del self._groups[oldest]
            self._by_action.get(self._bucket(oldest, group.action), {}).pop(oldest, None)
            for fact in oldest.blamed[:1] or (None,):
                self._by_fact.get((oldest.book, fact), {}).pop(oldest, None)
        if len(self._taken) > MAX_TAKEN:
            self._taken.clear()

    # --- proposals ------------------------------------------------------------------------------

    def _induce_any(self, mistake: Mistake) -> None:
        if mistake.is_family:
            self._induce_family(mistake)
        else:
            self._induce(mistake)

    def _induce_family(self, family: Mistake) -> None:
        """Look for what all calls of a family share; members that it covers need no rule of their own."""
        group = self._groups[family]
        before = group.clauses
        first = next(iter(group.failing.values())).call
        step = needed_step(group)
        clause = step_clause(step, group, family.book, self._ledger) if step else None
        if step and clause:
            action = step_action(step, first.message)
        else:
            clause = generalise(group, family.book, self._ledger)
            action = action_of(family, group)
        self._set(family, (clause,) if clause else (), action)
        where = self._general.setdefault((family.tool, family.scope), {})
        if clause:
            where[family] = None
        else:
            where.pop(family, None)
        if before != group.clauses:
            for member in [member for member in group.members if member in self._groups]:
                self._induce(member)

    def _induce(self, mistake: Mistake) -> None:
        """Find the conditions of a group anew, then what is proposed with the same action."""
        group = self._groups[mistake]
        action = action_of(mistake, group)
        if action.type == "PRE_CALL_VALIDATION" and self._is_covered(mistake, group):
            clauses: list[Clause] = []
        elif mistake.blamed or mistake.lacking:
            base = Clause(frozenset(mistake.blamed), frozenset(mistake.lacking))
            clauses = cover(base, group.positives(), mistake.book, self._ledger)
        else:
            clauses = repeat(group.positives(), mistake.book, self._ledger)
        self._set(mistake, tuple(clauses), action)

    def _is_covered(self, mistake: Mistake, group: Group) -> bool:
        families = [self._groups[family] for family in self._general.get((mistake.tool, mistake.scope), ())]
        return bool(families) and all(
            any(family.holds(seen.facts) for family in families) for seen in group.failing.values()
        )

    def _set(self, mistake: Mistake, clauses: tuple[Clause, ...], action: Action) -> None:
        group = self._groups[mistake]
        before, group.clauses, group.action = group.action, clauses, action
        if before != action:
            self._by_action.get(self._bucket(mistake, before), {}).pop(mistake, None)
            self._propose(self._bucket(mistake, before))
        self._by_action.setdefault(self._bucket(mistake, action), {})[mistake] = None
        self._propose(self._bucket(mistake, action))

    @staticmethod
    def _bucket(mistake: Mistake, action: Action) -> tuple[Mistake, Action]:
        return Mistake(mistake.tool, mistake.scope), action

    def _propose(self, bucket: tuple[Mistake, Action]) -> None:
        where, action = bucket
        failing: dict[str, tuple[str, str, frozenset[Atom]]] = {}
        clauses: list[Clause] = []
        for mistake in self._by_action.get(bucket, ()):
            group = self._groups[mistake]
            if not group.clauses and mistake.is_family:
                continue
            clauses += group.clauses
            failing |= {seen.call.id: (seen.call.id, seen.call.run, seen.facts) for seen in group.failing.values()}
        evidence = Evidence(list(failing.values()), good=self._ledger.size(where.book))
        made = [self._proposal(where, joined, action, evidence) for joined in join(clauses)]
        self._made[bucket] = {proposal.key: proposal for proposal in made if proposal is not None}
        if not self._made[bucket]:
            del self._made[bucket]

    def _proposal(
        self, where: Mistake, joined: Joined, action: Action, evidence: Evidence
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

    def _is_rule(self, proposal: Proposal) -> bool:
        if proposal.key not in self._taken:
            try:
                Rule.from_document(proposal.document() | {"uuid": proposal.key})
            except RuleError:
                self._taken[proposal.key] = False
            else:
                self._taken[proposal.key] = True
        return self._taken[proposal.key]
