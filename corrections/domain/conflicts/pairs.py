"""What can be said about two rules: cheap proofs first, then the solver, then the engine on the example."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from corrections.domain.conflicts.effects import Effects, effects_of
from corrections.domain.conflicts.findings import Facts, Finding
from corrections.domain.conflicts.fitting import fitted
from corrections.domain.conflicts.outlines import apart, outline_of
from corrections.domain.conflicts.overlays import in_setting, overlays
from corrections.domain.conflicts.questions import Answer, Part, Question, Setting, Solver
from corrections.domain.conflicts.relations import Relation, Subject, first_of, relation
from corrections.domain.conflicts.scopes import covers, meeting
from corrections.domain.conflicts.singles import Singles, schema_text
from corrections.domain.conflicts.sketches import sketched
from hgmem.rules import PreCallValidation, RuleError, parse_context
from hgmem.rules.precedence import in_precedence

Outcome = tuple[str, list[Finding]]
"""The counter of ``Analysis`` the pair belongs to, and what was found."""


@dataclass(frozen=True)
class Meeting:
    """A call in which rules fire together, and what the engine makes of it; no call, no effects."""

    answer: Answer
    effects: Effects | None = None

    def detail(self, subjects: Sequence[Subject]) -> dict[str, Any]:
        """As JSON, for a finding."""
        shown = self.effects.described([subject.uuid for subject in subjects]) if self.effects else {}
        return shown | {
            "now": self.answer.moment.isoformat() if self.answer.moment else "",
            "obeys_schema": self.answer.obeys_schema,
            "first": in_precedence(subject.compiled for subject in subjects)[0].uuid,
        }


class Pairs:
    """Looks at pairs of rules."""

    def __init__(self, facts: Facts, solver: Solver, singles: Singles) -> None:
        self._facts = facts
        self._solver = solver
        self._singles = singles
        self.now = facts.now

    def look_at(self, a: Subject, b: Subject) -> Outcome:
        """Everything about a pair."""
        link = relation(a, b)
        if link.is_none:
            return "unrelated", []
        setting = meeting((a.rule, b.rule), self._facts.now)
        if setting is None or apart(a.outline, b.outline):
            return "disjoint", []
        met = self.together((a, b), setting)
        if met.answer.outcome == "no":
            return "disjoint", []
        if met.effects is None:
            kind, field = link.worst
            return "not_proven", [_finding(kind, (a, b), field, met.answer.reason)]
        findings = self._judged(a, b, link, met, met.effects)
        if not findings:
            return "harmless", []
        proved = any(finding.verdict == "conflict" for finding in findings)
        return "conflicts" if proved else "not_proven", findings

    def together(self, subjects: Sequence[Subject], setting: Setting) -> Meeting:
        """A call in which all rules fire: out of the examples that are known, else from the solver."""
        idle: Meeting | None = None
        for witness in self._combined(subjects, setting):
            met = self._confirmed(subjects, Answer("yes", witness, setting.moment))
            if met.effects is None:
                continue
            if all(met.effects.acted(at) for at in range(len(subjects))):
                return met
            idle = idle or met
        wishes = tuple(wish for subject in subjects for wish in subject.wishes)
        if idle is not None and not wishes:
            return idle
        met = self._asked(subjects, setting, wishes)
        return idle if idle is not None and met.effects is None else met

    def _asked(self, subjects: Sequence[Subject], setting: Setting, wishes: tuple[str, ...]) -> Meeting:
        """The same from the solver."""
        parts = tuple(Part(subject.condition) for subject in subjects)
        schema = schema_text(self._facts, setting)
        answer = self._solver.ask(Question(parts, setting, prefer=wishes, schema=schema))
        return self._confirmed(subjects, answer)

    def _confirmed(self, subjects: Sequence[Subject], answer: Answer) -> Meeting:
        """The engine's word on an example."""
        if answer.witness is None or answer.moment is None:
            return Meeting(answer)
        try:
            context = parse_context(answer.witness).with_variables(now=answer.moment)
        except RuleError as fault:
            return Meeting(Answer("unknown", reason=f"the example is no context: {fault}"[:300]))
        if all(subject.holds(context) for subject in subjects):
            effects = effects_of(subjects, context, answer.moment)
            if effects.all_match:
                return Meeting(answer, effects)
        return Meeting(Answer("unknown", reason="the example did not hold in the engine"))

    def _combined(self, subjects: Sequence[Subject], setting: Setting) -> Iterator[dict[str, Any]]:
        """Guesses that obey the schema: a sketch, then examples of each laid over each other."""
        schema = schema_text(self._facts, setting)
        for guess in self._guessed(subjects, setting):
            witness = fitted(guess, schema)
            if witness is not None:
                yield witness

    def _guessed(self, subjects: Sequence[Subject], setting: Setting) -> Iterator[dict[str, Any]]:
        trees = [subject.compiled.condition.tree for subject in subjects]
        yield in_setting(sketched(outline_of(*trees)), setting)
        examples = [self._singles.example(subject) for subject in subjects]
        known = [example.witness for example in examples if example is not None]
        if len(known) == len(subjects):
            yield from (in_setting(laid, setting) for laid in overlays(known))

    # --- judging an example -----------------------------------------------------------------------

    def _judged(
        self, a: Subject, b: Subject, link: Relation, met: Meeting, effects: Effects
    ) -> list[Finding]:
        if link.same_action:
            return self._same(a, b, met)
        if link.clash:
            return self._clash(a, b, link, met, effects)
        return [
            _shown("interference", (writer, reader), field, met, _disturbed(writer, reader, field))
            for writer, reader, field in link.disturbs
            if effects.disturbed(0 if reader is a else 1)
        ]

    def _same(self, a: Subject, b: Subject, met: Meeting) -> list[Finding]:
        """Redundant, subsumed, or two rules that share an action in different cases."""
        a_in_b, b_in_a = self._implied(a, b), self._implied(b, a)
        if a_in_b is True and b_in_a is True:
            return [_shown("redundant", (a, b), "", met, "both do the same in the same cases")]
        if a_in_b is True:
            return [_shown("subsumed", (a, b), "", met, _SUBSUMED)]
        if b_in_a is True:
            return [_shown("subsumed", (b, a), "", met, _SUBSUMED)]
        return [
            _finding("subsumed", pair, "", reason)
            for pair, reason in (((a, b), a_in_b), ((b, a), b_in_a))
            if isinstance(reason, str)
        ][:1]

    def _clash(self, a: Subject, b: Subject, link: Relation, met: Meeting, effects: Effects) -> list[Finding]:
        first = first_of(a, b)
        last = b if first is a else a
        loses = _is_suppressed(effects, last) and not isinstance(last.rule.action, PreCallValidation)
        if loses and self._implied(last, first) is True:
            reason = f"whenever it fires, {_named(first)} goes first and keeps {link.clash}"
            return [_shown("shadowed", (last, first), link.clash, met, reason)]
        if _contradict(effects, link):
            return [_contradiction(a, b, link, met)]
        return self._sought(a, b, link)

    def _sought(self, a: Subject, b: Subject, link: Relation) -> list[Finding]:
        """Both fire, but did nothing different in the example. A contradiction needs one of them at work."""
        setting = meeting((a.rule, b.rule), self._facts.now)
        doubt = f"both can fire, but no call was found in which they differ about {link.clash}"
        needy = [subject for subject in (a, b) if subject.needs]
        if setting is None or len(needy) < (1 if link.is_refusal else 2):
            return [_finding("contradictory", (a, b), link.clash, doubt)]
        for subject in needy:
            parts = (Part(a.condition), Part(b.condition), Part(subject.needs))
            met = self._confirmed((a, b), self._solver.ask(Question(parts, setting)))
            if met.answer.outcome == "no" and link.is_refusal:
                return []
            if met.answer.outcome == "no":
                continue
            if met.effects is None:
                return [_finding("contradictory", (a, b), link.clash, met.answer.reason)]
            if _contradict(met.effects, link):
                return [_contradiction(a, b, link, met)]
            return [_finding("contradictory", (a, b), link.clash, doubt)]
        return []

    def _implied(self, narrow: Subject, wide: Subject) -> bool | str:
        """Whether one rule only fires where the other does; a reason when nobody knows."""
        if not covers(wide.rule, narrow.rule):
            return False
        if wide.compiled.condition.always or wide.condition == narrow.condition:
            return True
        example = self._singles.known_example(narrow)
        if example is not None and not wide.holds(
            parse_context(example.witness).with_variables(now=example.moment)
        ):
            return False
        setting = meeting((narrow.rule,), self._facts.now)
        if setting is None:
            return False
        parts = (Part(narrow.condition), Part(wide.condition, "not_true"))
        answer = self._solver.ask(Question(parts, setting))
        return {"no": True, "yes": False}.get(answer.outcome, answer.reason)


_SUBSUMED = "it does the same as the other rule, which fires in all its cases"
_REFUSED = "one refuses, or sends to another tool, the call that the other repairs"


def _contradict(effects: Effects, link: Relation) -> bool:
    if link.is_refusal:
        return effects.acted(0) and effects.acted(1)
    return effects.differ_at(link.clash)


def _contradiction(a: Subject, b: Subject, link: Relation, met: Meeting) -> Finding:
    reason = _REFUSED if link.is_refusal else f"both write {link.clash}, each its own way"
    return _shown("contradictory", (a, b), link.clash, met, reason)


def _shown(kind: str, pair: tuple[Subject, Subject], field: str, met: Meeting, reason: str) -> Finding:
    names = (pair[0].uuid, pair[1].uuid)
    return Finding(kind, "conflict", *names, field, met.answer.witness, met.detail(pair), reason)


def _finding(kind: str, pair: tuple[Subject, Subject], field: str, reason: str) -> Finding:
    return Finding(kind, "not_proven", pair[0].uuid, pair[1].uuid, field, reason=reason)


def _is_suppressed(effects: Effects, subject: Subject) -> bool:
    return any(one["rule"] == subject.uuid for one in effects.together.suppressed)


def _disturbed(writer: Subject, reader: Subject, field: str) -> str:
    return f"{_named(writer)} changes {field}, on which {_named(reader)} depends"


def _named(subject: Subject) -> str:
    return f"rule {subject.rule.name or subject.uuid}"
