"""What can be said about two rules: cheap proofs first, then the solver, then the engine's word on the example."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from corrections.domain.conflicts.effects import Effects, effects_of
from corrections.domain.conflicts.findings import Facts, Finding
from corrections.domain.conflicts.outlines import apart
from corrections.domain.conflicts.overlays import in_setting, overlays
from corrections.domain.conflicts.questions import Answer, Part, Question, Setting, Solver
from corrections.domain.conflicts.relations import Relation, Subject, first_of, relation
from corrections.domain.conflicts.scopes import covers, meeting
from corrections.domain.conflicts.singles import Singles, schema_text
from hgmem.rules import PreCallValidation, RuleError, parse_context

Outcome = tuple[str, list[Finding]]
"""The counter of ``Analysis`` the pair belongs to, and what was found."""


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
        answer = self.together((a, b), setting)
        if answer.outcome == "no":
            return "disjoint", []
        if answer.witness is None:
            kind, field = link.worst
            return "not_proven", [_finding(kind, (a, b), field, answer.reason)]
        findings = self._judged(a, b, link, answer)
        if not findings:
            return "harmless", []
        proved = any(finding.verdict == "conflict" for finding in findings)
        return "conflicts" if proved else "not_proven", findings

    def together(self, subjects: Sequence[Subject], setting: Setting) -> Answer:
        """A call in which all rules fire: out of the examples that are known, else from the solver."""
        idle: Answer | None = None
        for witness, moment in self._combined(subjects, setting):
            effects = self._effects(subjects, witness, moment)
            if effects is None or not effects.all_match:
                continue
            if all(effects.acted(at) for at in range(len(subjects))):
                return Answer("yes", witness, moment)
            idle = idle or Answer("yes", witness, moment)
        wishes = tuple(wish for subject in subjects for wish in subject.wishes)
        if idle is not None and not wishes:
            return idle
        answer = self._asked(subjects, setting, wishes)
        return idle if idle is not None and answer.witness is None else answer

    def _asked(self, subjects: Sequence[Subject], setting: Setting, wishes: tuple[str, ...]) -> Answer:
        """A call in which all fire, from the solver and confirmed by the engine."""
        parts = tuple(Part(subject.condition) for subject in subjects)
        schema = schema_text(self._facts, setting)
        answer = self._solver.ask(Question(parts, setting, prefer=wishes, schema=schema))
        if answer.witness is None or answer.moment is None:
            return answer
        effects = self._effects(subjects, answer.witness, answer.moment)
        if effects is not None and effects.all_match:
            return answer
        return Answer("unknown", reason="the example did not hold in the engine")

    def _combined(
        self, subjects: Sequence[Subject], setting: Setting
    ) -> Iterator[tuple[dict[str, Any], datetime]]:
        """Examples of each laid over each other, when no schema has a say."""
        if schema_text(self._facts, setting):
            return
        examples = [self._singles.example(subject) for subject in subjects]
        known = [example.witness for example in examples if example is not None]
        if len(known) == len(subjects):
            for laid in overlays(known):
                yield in_setting(laid, setting), setting.moment

    @staticmethod
    def _effects(subjects: Sequence[Subject], witness: dict[str, Any], moment: datetime) -> Effects | None:
        try:
            return effects_of([subject.rule for subject in subjects], parse_context(witness), moment)
        except RuleError:
            return None

    # --- judging an example -----------------------------------------------------------------------

    def _judged(self, a: Subject, b: Subject, link: Relation, answer: Answer) -> list[Finding]:
        if link.same_action:
            return self._same(a, b, answer)
        if link.clash:
            return self._clash(a, b, link, answer)
        return self._interference(a, b, link, answer)

    def _same(self, a: Subject, b: Subject, answer: Answer) -> list[Finding]:
        """Redundant, subsumed, or two rules that share an action in different cases."""
        a_in_b, b_in_a = self._implied(a, b), self._implied(b, a)
        if a_in_b is True and b_in_a is True:
            return [self._shown("redundant", (a, b), "", answer, "both do the same in the same cases")]
        if a_in_b is True:
            return [self._shown("subsumed", (a, b), "", answer, _SUBSUMED)]
        if b_in_a is True:
            return [self._shown("subsumed", (b, a), "", answer, _SUBSUMED)]
        return [
            _finding("subsumed", pair, "", reason)
            for pair, reason in (((a, b), a_in_b), ((b, a), b_in_a))
            if isinstance(reason, str)
        ][:1]

    def _clash(self, a: Subject, b: Subject, link: Relation, answer: Answer) -> list[Finding]:
        first = first_of(a, b)
        last = b if first is a else a
        effects = self._confirmed((a, b), answer)
        loses = _is_suppressed(effects, last) and not isinstance(last.rule.action, PreCallValidation)
        if loses and self._implied(last, first) is True:
            reason = f"whenever it fires, {_named(first)} goes first and keeps {link.clash}"
            return [self._shown("shadowed", (last, first), link.clash, answer, reason)]
        if self._is_contradiction(effects, link):
            return [self._contradiction(a, b, link, answer)]
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
            answer = self._solver.ask(Question(parts, setting))
            if answer.outcome == "no" and link.is_refusal:
                return []
            if answer.outcome == "no":
                continue
            if answer.witness is None:
                return [_finding("contradictory", (a, b), link.clash, answer.reason)]
            effects = self._confirmed((a, b), answer)
            if effects.all_match and self._is_contradiction(effects, link):
                return [self._contradiction(a, b, link, answer)]
            return [_finding("contradictory", (a, b), link.clash, doubt)]
        return []

    def _contradiction(self, a: Subject, b: Subject, link: Relation, answer: Answer) -> Finding:
        reason = _REFUSED if link.is_refusal else f"both write {link.clash}, each its own way"
        return self._shown("contradictory", (a, b), link.clash, answer, reason)

    @staticmethod
    def _is_contradiction(effects: Effects, link: Relation) -> bool:
        if link.is_refusal:
            return effects.acted(0) and effects.acted(1)
        return effects.differ_at(link.clash)

    def _interference(self, a: Subject, b: Subject, link: Relation, answer: Answer) -> list[Finding]:
        effects = self._confirmed((a, b), answer)
        found = []
        for writer, reader, field in link.disturbs:
            if effects.disturbed(0 if reader is a else 1):
                reason = f"{_named(writer)} changes {field}, on which {_named(reader)} depends"
                found.append(self._shown("interference", (writer, reader), field, answer, reason))
        return found

    def _implied(self, narrow: Subject, wide: Subject) -> bool | str:
        """Whether one rule only fires where the other does; a reason when nobody knows."""
        if not covers(wide.rule, narrow.rule):
            return False
        if wide.compiled.condition.always or wide.condition == narrow.condition:
            return True
        example = self._singles.known_example(narrow)
        if example is not None:
            context = parse_context(example.witness).with_variables(now=example.moment)
            if wide.compiled.condition.evaluate(context) is not True:
                return False
        setting = meeting((narrow.rule,), self._facts.now)
        if setting is None:
            return False
        parts = (Part(narrow.condition), Part(wide.condition, "not_true"))
        answer = self._solver.ask(Question(parts, setting))
        return {"no": True, "yes": False}.get(answer.outcome, answer.reason)

    def _confirmed(self, subjects: Sequence[Subject], answer: Answer) -> Effects:
        assert answer.witness is not None  # noqa: S101 (callers have an example)
        assert answer.moment is not None  # noqa: S101
        return effects_of([one.rule for one in subjects], parse_context(answer.witness), answer.moment)

    def _shown(
        self, kind: str, subjects: tuple[Subject, Subject], field: str, answer: Answer, reason: str
    ) -> Finding:
        effects = self._confirmed(subjects, answer)
        moment = answer.moment.isoformat() if answer.moment else ""
        detail = effects.described() | {
            "now": moment,
            "obeys_schema": answer.obeys_schema,
            "first": first_of(*subjects).uuid,
        }
        return Finding(
            kind, "conflict", subjects[0].uuid, subjects[1].uuid, field, answer.witness, detail, reason
        )


_SUBSUMED = "it does the same as the other rule, which fires in all its cases"
_REFUSED = "one refuses, or sends to another tool, the call that the other repairs"


def _finding(kind: str, pair: tuple[Subject, Subject], field: str, reason: str) -> Finding:
    return Finding(kind, "not_proven", pair[0].uuid, pair[1].uuid, field, reason=reason)


def _is_suppressed(effects: Effects, subject: Subject) -> bool:
    return any(one["rule"] == subject.uuid for one in effects.together.suppressed)


def _named(subject: Subject) -> str:
    return f"rule {subject.rule.name or subject.uuid}"
