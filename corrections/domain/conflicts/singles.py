"""What can be said about one rule by itself: dead, always on, can fail."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from corrections.domain.conflicts.breaking import broken
from corrections.domain.conflicts.effects import effects_of
from corrections.domain.conflicts.findings import Facts, Finding
from corrections.domain.conflicts.fitting import fitted
from corrections.domain.conflicts.overlays import in_setting
from corrections.domain.conflicts.questions import Answer, Part, Question, Setting, Solver, Wanted
from corrections.domain.conflicts.relations import Subject
from corrections.domain.conflicts.scopes import meeting
from corrections.domain.conflicts.sketches import sketched
from hgmem.rules import EvaluationFailure, RuleError, parse_context


@dataclass(frozen=True)
class CallExample:
    """A call in which a rule fires."""

    witness: dict[str, Any]
    moment: datetime


class Singles:
    """Looks at rules one by one and keeps an example of each."""

    def __init__(self, facts: Facts, solver: Solver) -> None:
        self._facts = facts
        self._solver = solver
        self._fires: dict[str, Answer] = {}

    def findings(self, subject: Subject) -> list[Finding]:
        """Everything wrong with a rule by itself."""
        if subject.compiled.condition.always:
            return []
        fires = self._fires_when(subject)
        if fires.outcome == "no":
            return [Finding("dead", "conflict", subject.uuid, reason="the condition can never be true")]
        found = [] if fires.outcome == "yes" else [_not_proven("dead", subject, fires)]
        return found + self._always_on(subject, fires) + self._can_error(subject, fires)

    def example(self, subject: Subject) -> CallExample | None:
        """A call in which the rule fires, if one is known."""
        answer = self._fires_when(subject)
        return CallExample(answer.witness, answer.moment) if answer.witness and answer.moment else None

    def known_example(self, subject: Subject) -> CallExample | None:
        """The same, without asking for one."""
        return self.example(subject) if subject.uuid in self._fires else None

    def _fires_when(self, subject: Subject) -> Answer:
        if subject.uuid not in self._fires:
            self._fires[subject.uuid] = self._sketch(subject) or self._ask(subject, "true")
        return self._fires[subject.uuid]

    def _sketch(self, subject: Subject) -> Answer | None:
        """An example without a solver, when a guess obeys the schema and holds."""
        setting = meeting((subject.rule,), self._facts.now)
        if setting is None:
            return None
        guess = in_setting(sketched(subject.outline), setting)
        witness = fitted(guess, schema_text(self._facts, setting))
        if witness is None:
            return None
        try:
            context = parse_context(witness).with_variables(now=setting.moment)
        except RuleError:
            return None
        return Answer("yes", witness, setting.moment) if subject.holds(context) else None

    def _always_on(self, subject: Subject, fires: Answer) -> list[Finding]:
        if not self._holds_of_nothing(subject):
            return []
        answer = self._ask(subject, "not_true")
        if answer.outcome == "unknown":
            return [_not_proven("always_on", subject, answer)]
        if answer.outcome == "yes" or fires.witness is None or fires.moment is None:
            return []
        detail = self._described(subject, fires.witness, fires.moment)
        return [
            Finding("always_on", "conflict", subject.uuid, witness=fires.witness, detail=detail,
                    reason="the condition is true of every call")
        ]  # fmt: skip

    def _holds_of_nothing(self, subject: Subject) -> bool:
        """Whether the condition is true of a call without any input; if not, it is not always true."""
        setting = meeting((subject.rule,), self._facts.now)
        if setting is None:
            return False
        context = parse_context({"point": setting.point, "input": {}}).with_variables(now=setting.moment)
        return subject.compiled.condition.evaluate(context) is True

    def _can_error(self, subject: Subject, fires: Answer) -> list[Finding]:
        answer = self._broken(subject, fires) or self._ask(subject, "error")
        if answer.outcome == "no":
            return []
        if answer.witness is None or answer.moment is None:
            return [_not_proven("can_error", subject, answer)]
        context = parse_context(answer.witness).with_variables(now=answer.moment)
        failure = getattr(subject.compiled.condition.evaluate(context), "detail", "")
        detail = self._described(subject, answer.witness, answer.moment, obeys_schema=answer.obeys_schema)
        return [
            Finding(
                "can_error", "conflict", subject.uuid, witness=answer.witness, detail=detail, reason=failure
            )
        ]

    def _broken(self, subject: Subject, fires: Answer) -> Answer | None:
        """A call in which the condition fails and that obeys the schema, guessed."""
        setting = meeting((subject.rule,), self._facts.now)
        if setting is None or fires.witness is None:
            return None
        condition, schema = subject.compiled.condition, schema_text(self._facts, setting)
        for guess in broken(fires.witness, condition.tree):
            witness = fitted(guess, schema)
            if witness is None:
                continue
            try:
                context = parse_context(witness).with_variables(now=setting.moment)
            except RuleError:
                continue
            if isinstance(condition.evaluate(context), EvaluationFailure):
                return Answer("yes", witness, setting.moment)
        return None

    def _ask(self, subject: Subject, wanted: Wanted) -> Answer:
        setting = meeting((subject.rule,), self._facts.now)
        if setting is None:
            return Answer("no")
        part = Part(subject.condition, wanted)
        return self._solver.ask(Question((part,), setting, schema=schema_text(self._facts, setting)))

    def _described(
        self, subject: Subject, witness: dict[str, Any], moment: datetime, **more: Any
    ) -> dict[str, Any]:
        effects = effects_of((subject,), parse_context(witness), moment)
        shown = effects.described([subject.uuid])
        return {"now": moment.isoformat(), "first": subject.uuid, **shown, **more}


def schema_text(facts: Facts, setting: Setting) -> str:
    """The schema of the tool in question, as JSON; "" when there is none."""
    schema = facts.schemas.get(setting.tool)
    return json.dumps(schema) if schema else ""


def _not_proven(kind: str, subject: Subject, answer: Answer) -> Finding:
    return Finding(kind, "not_proven", subject.uuid, reason=answer.reason)
