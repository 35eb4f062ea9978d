"""The inducer's memory: told one call after another, it keeps its proposals true to what it has seen."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from corrections.domain.inducing.acting import fallback, needed_step, step_action
from corrections.domain.inducing.aligning import Forgotten, lesson_of
from corrections.domain.inducing.blaming import Said, blame, lacks
from corrections.domain.inducing.board import Board
from corrections.domain.inducing.calls import ObservedCall, PastCall, before_steps, without_vain_steps
from corrections.domain.inducing.covering import Clause, cover, repeat
from corrections.domain.inducing.dividing import divide
from corrections.domain.inducing.edits import edit_between
from corrections.domain.inducing.features import Atom, atoms_of
from corrections.domain.inducing.forgotten import ForgottenSteps, StepKey
from corrections.domain.inducing.general import generalise, step_clause
from corrections.domain.inducing.groups import Group, Mistake, Seen
from corrections.domain.inducing.ledger import Book, Ledger
from corrections.domain.inducing.proposals import Changes, Proposal
from corrections.domain.inducing.recovering import recoveries_of
from corrections.domain.inducing.repairs import Swap, best_fix, swaps_between, word_edit
from corrections.domain.inducing.repeats import Repeats
from corrections.domain.inducing.surroundings import surroundings_of
from corrections.domain.inducing.traits import traits_of
from memory.domain.rewriting.align_edits import MAX_STEPS, Repair

MAX_OPEN_RUNS = 1_000
MAX_RUN_CALLS = 500
MAX_GROUPS = 5_000
MAX_RECOVERIES = 20


class Inducer:
    """Learns from calls in the order in which they happened.

    A new kind of mistake waits until its run is over, because the rest of the run shows what the call should
    have been; what is known already learns from every call at once. Nothing is proposed that would hit a good
    call.

    Memory is bounded: ``MAX_OPEN_RUNS`` runs of ``MAX_RUN_CALLS`` calls, ``MAX_GROUPS`` mistakes of
    ``groups.MAX_KEPT`` failing calls each, and what ``Ledger`` and ``Repeats`` keep. The oldest are dropped,
    and a mistake's proposals go with it.
    """

    def __init__(self) -> None:
        self._ledger = Ledger()
        self._groups: dict[Mistake, Group] = {}
        self._general: dict[tuple[str, tuple[str, str]], dict[Mistake, None]] = {}
        self._by_fact: dict[tuple[Book, Atom | None], dict[Mistake, None]] = {}
        self._open: dict[str, list[Seen]] = {}
        self._repeats = Repeats()
        self._forgotten = ForgottenSteps()
        self._steps: dict[Mistake, dict[StepKey, None]] = {}
        self._board = Board(self._groups, self._ledger, self._repeats)

    def learn(self, call: ObservedCall) -> None:
        """One more call and how it went."""
        run = self._open.setdefault(call.run, [])
        past = _past(call, run)
        past = past if call.failed else without_vain_steps(call, past)
        seen = _see(call, past)
        book = (call.tool, call.scope()[1])
        if self._ledger.meet(book, seen.atoms):
            self._board.refresh(call.tool)
        for key in self._repeats.meet(call.tool, call.scope(), call.input, failed=call.failed):
            self._board.set_repeat(key)
        if len(run) < MAX_RUN_CALLS:
            run.append(seen)
        if call.failed:
            mistake, family = self._mistakes(seen)
            if mistake in self._groups and self._groups[mistake].message is not None:
                self._add(mistake, family, seen)
                self._induce_all((family, mistake))
        else:
            self._ledger.add(book, call.id, seen.atoms, run=call.run, more=seen.more)
            told = [self._forgotten.family(key) for key in self._forgotten.meet(call, past)]
            families = [family for family in told if family is not None and family in self._groups]
            self._induce_all([*self._hit_by(book, seen.facts), *families])
        if len(self._open) > MAX_OPEN_RUNS:
            self.end_run(next(iter(self._open)))

    def end_run(self, run: str) -> None:
        """A run is over: new mistakes become groups, and failing calls meet the calls that then worked."""
        calls = self._open.pop(run, [])
        changed: dict[Mistake, None] = {}
        for at, seen in enumerate(calls):
            if not seen.call.failed:
                continue
            mistake, family = self._mistakes(seen)
            self._add(mistake, family, seen)
            changed[family] = changed[mistake] = None
            changed |= dict.fromkeys(self._pair(mistake, family, seen, calls, at))
        self._induce_all(changed)
        self._forget()

    def learn_alignment(self, repair: Repair, *, run: str, call_id: str = "") -> None:
        """A failed path beside one of the same goal that went well, merged with what runs themselves showed.

        ``run`` names the failed path's task and ``call_id`` its failing call; a call that was learnt already
        is not counted again. Raises KeyError when the failing node is not in the failed path.
        """
        lesson = lesson_of(repair, run=run, call_id=call_id)
        if lesson is None:
            return
        call = lesson.call
        seen = _see(call, call.history or ())
        mistake, family = self._mistakes(seen)
        if call.id not in self._group(mistake).failing:
            self._add(mistake, family, seen)
        for some in (mistake, family) if lesson.recoveries else ():
            known = self._group(some).recoveries.get(call.id, ())
            self._groups[some].recoveries[call.id] = (*known, *lesson.recoveries)[:MAX_RECOVERIES]
        self._teach(family, lesson.forgotten)
        changed: dict[Mistake, None] = {family: None, mistake: None}
        if lesson.fixed is not None and call.id not in self._groups[mistake].edits:
            changed |= dict.fromkeys(self._learn_fix(mistake, seen, lesson.fixed))
        self._induce_all(changed)
        self._forget()

    def learn_saved(self, calls: Sequence[ObservedCall]) -> None:
        """A run that reached its goal without a failing call, some of them after steps that rules asked for.

        A general rule that stepped in may be taken back later, and a failure that it prevented is never met.
        So such a step is remembered for this goal as if the call had failed for want of it, where other runs
        did.
        """
        for at, call in enumerate(calls):
            if call.prompted and not call.failed:
                past = tuple(other.past() for other in calls[:at])
                plain = replace(call, history=before_steps(call, past))
                for step in past[len(plain.history or ()) :][-MAX_STEPS:]:
                    self._save(plain, step)

    def _save(self, call: ObservedCall, step: PastCall) -> None:
        """A call as it stood before a step that a rule asked for."""
        families = self._by_fact.get(((call.tool, call.scope()[1]), None), ())
        shown = {family: self._groups[family].needed(step.tool) for family in families if family.is_family}
        family = max(shown, key=lambda one: shown[one], default=None)
        if family is None or not shown[family] or self._forgotten.knows(call, step):
            return
        group = self._groups[family]
        group.save(_see(call, call.history or ()))
        self._teach(family, [Forgotten(step, replace(call, message=group.message or ""))])
        self._set_steps(family, group)

    def proposals(self) -> list[Proposal]:
        """Everything proposed now."""
        return self._board.proposals()

    def changes(self) -> Changes:
        """What was proposed, gained evidence or was withdrawn since this was last asked."""
        return self._board.changes()

    def hits(self, key: str) -> int:
        """How many good calls the condition of a proposal would hit by now; 0 for one it never made.

        What it took back, it may have had to.
        """
        return self._board.hits(key) + self._forgotten.hits(key)

    # --- groups ---------------------------------------------------------------------------------

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
            self._group(some).add(seen)
        self._groups[family].members[mistake] = None

    def _group(self, mistake: Mistake) -> Group:
        group = self._groups.get(mistake)
        if group is None:
            group = self._groups[mistake] = Group()
            for fact in mistake.blamed[:1] or (None,):
                self._by_fact.setdefault((mistake.book, fact), {})[mistake] = None
        return group

    def _pair(
        self, mistake: Mistake, family: Mistake, seen: Seen, run: Sequence[Seen], at: int
    ) -> list[Mistake]:
        """What the rest of the run shows: the working call that repairs it, a step that was made before it.

        Returns the other words that it shows to be wrong.
        """
        call, calls = seen.call, [other.call for other in run[at + 1 :]]
        recoveries = recoveries_of(call, calls)
        for some in (mistake, family) if recoveries else ():
            self._groups[some].recoveries[call.id] = recoveries
        before = replace(call, history=_past(call, run[:at]))
        steps = [one for one in recoveries if one.kind == "insert"]
        self._teach(family, [Forgotten(PastCall(one.tool, one.arguments), before) for one in steps])
        fixed = best_fix(call.input, (it.input for it in calls if it.tool == call.tool and not it.failed))
        return [] if fixed is None else self._learn_fix(mistake, seen, fixed)

    def _teach(self, family: Mistake, forgotten: Sequence[Forgotten]) -> None:
        """The few steps that one run shows to be missing before this very call."""
        for one in forgotten if len(forgotten) <= MAX_STEPS else ():
            for key in self._forgotten.teach(family, one.before, one.step):
                self._steps.setdefault(self._forgotten.family(key) or family, {})[key] = None

    def _learn_fix(self, mistake: Mistake, seen: Seen, fixed: Mapping[str, Any]) -> list[Mistake]:
        """The edit between a failing input and the one that worked; the other words that it shows wrong."""
        call = seen.call
        swaps = swaps_between(call.input, fixed)
        self._groups[mistake].edits[call.id] = word_edit(mistake.blamed, swaps) or edit_between(
            call.input, fixed
        )
        for key in self._repeats.pair(
            call.tool, call.scope(), call.input, fixed, name=call.id, run=call.run, message=call.message
        ):
            self._board.set_repeat(key)
        return [other for swap in swaps if (other := self._also_wrong(mistake, seen, swap)) is not None]

    def _also_wrong(self, mistake: Mistake, seen: Seen, swap: Swap) -> Mistake | None:
        """A word that the run replaced as well and that no good call ever had."""
        atom = Atom(swap.place, "word", swap.old)
        if atom in mistake.blamed or atom not in seen.atoms or self._ledger.hit(mistake.book, (atom,)):
            return None
        other = Mistake(mistake.tool, mistake.scope, (atom,))
        self._group(other).add(seen, is_blamed=False)
        self._groups[other].edits[seen.call.id] = word_edit((atom,), (swap,))
        return other

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
            self._board.set_parts(oldest, {})
            for key in self._steps.pop(oldest, ()):
                self._board.set_step(key, ())
            del self._groups[oldest]
            self._general.get((oldest.tool, oldest.scope), {}).pop(oldest, None)
            for fact in oldest.blamed[:1] or (None,):
                self._by_fact.get((oldest.book, fact), {}).pop(oldest, None)

    # --- conditions -----------------------------------------------------------------------------

    def _induce_all(self, mistakes: Sequence[Mistake] | dict[Mistake, None]) -> None:
        """Families first: their members may need no rule of their own."""
        for family in [mistake for mistake in mistakes if mistake.is_family]:
            self._induce_family(family)
        for mistake in [mistake for mistake in mistakes if not mistake.is_family]:
            self._induce(mistake)

    def _induce_family(self, family: Mistake) -> None:
        """Look for what all calls of a family share."""
        group = self._groups[family]
        before = group.parts
        step = needed_step(group)
        clause = step_clause(step, group, family.book, self._ledger) if step else None
        action = step_action(step, group.message or "") if step and clause else None
        if action is None:
            clause, action = (
                generalise(group, family.book, self._ledger),
                fallback(family, group, self._ledger),
            )
        self._board.set_parts(family, {action: (clause,)} if clause and action else {})
        self._set_steps(family, group)
        where = self._general.setdefault((family.tool, family.scope), {})
        where.pop(family, None)
        if group.parts:
            where[family] = None
        if before != group.parts:
            self._induce_all([member for member in group.members if member in self._groups])

    def _set_steps(self, family: Mistake, group: Group) -> None:
        """Steps before one call, for the failing calls that the family's own step does not reach."""
        inserts = any(action.type == "INSERT_STEP" for action in group.parts)
        for key in self._steps.get(family, ()):
            known = group.failing | group.saved
            caught = [known[name] for name in self._forgotten.caught(key) if name in known]
            is_general = inserts and bool(caught) and all(group.holds(seen.facts) for seen in caught)
            self._board.set_step(key, () if is_general else self._forgotten.proposals(key))

    def _induce(self, mistake: Mistake) -> None:
        """Find the conditions of a group anew, for each action that its evidence speaks for."""
        group = self._groups[mistake]
        base = Clause(frozenset(mistake.blamed), frozenset(mistake.lacking))
        otherwise = None if self._is_covered(mistake, group) else fallback(mistake, group, self._ledger)
        parts = divide(base, group.mended(), otherwise, partial(self._cover, mistake.book))
        self._board.set_parts(mistake, parts)

    def _cover(self, book: Book, base: Clause, positives: Sequence[frozenset[Atom]]) -> list[Clause]:
        if base.all_of or base.none_of:
            return cover(base, positives, book, self._ledger)
        return repeat(positives, book, self._ledger)

    def _is_covered(self, mistake: Mistake, group: Group) -> bool:
        """Whether families or forgotten steps say about all of its calls what it would say."""
        families = [self._groups[family] for family in self._general.get((mistake.tool, mistake.scope), ())]
        return all(
            self._forgotten.is_mended(name) or any(family.holds(seen.facts) for family in families)
            for name, seen in group.failing.items()
        )


def _past(call: ObservedCall, run: Sequence[Seen]) -> tuple[PastCall, ...]:
    return tuple(seen.call.past() for seen in run) if call.history is None else call.history


def _see(call: ObservedCall, past: Sequence[PastCall]) -> Seen:
    return Seen(call, atoms_of(call.input), traits_of(call.input) | surroundings_of(call, past))
