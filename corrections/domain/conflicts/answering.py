"""Answers a question with z3. Runs in the solver's child process; nothing else imports z3."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final

import z3

from corrections.domain.conflicts.encoding import EPOCH, Encoded, Encoder
from corrections.domain.conflicts.examples import Example, UnfitError, readable
from corrections.domain.conflicts.logic import Formula, all_of, any_of, neg
from corrections.domain.conflicts.patterns import glob_language
from corrections.domain.conflicts.places import ITEMS, LIST, MAP, NAN, TEXT, Place
from corrections.domain.conflicts.questions import Answer, Part, Question, Setting
from corrections.domain.conflicts.schemas import obeyed
from corrections.domain.conflicts.texts import UnsupportedError, constant
from hgmem.rules import Condition, EvaluationFailure, RuleError, parse_context

_TRIES: Final = 4
"""Examples looked at before giving up, for each set of wishes."""


class Solving:
    """Answers questions, one after another; what conditions mean is encoded once."""

    def __init__(self, timeout_ms: int = 1_000) -> None:
        self._encoder = Encoder()
        self._timeout_ms = timeout_ms
        self._solver: Any = self._fresh()

    def ask(self, question: Question) -> Answer:
        """The answer; see ``questions.Answer``."""
        try:
            return self._answer(question)
        except RuleError as fault:
            return Answer("unknown", reason=f"a condition does not compile: {fault}"[:300])
        except z3.Z3Exception as fault:
            self._solver = self._fresh()
            return Answer("unknown", reason=f"the solver gave up: {_told(fault)}"[:300])

    @staticmethod
    def _fresh() -> Any:
        return z3.Solver()

    def _answer(self, question: Question) -> Answer:
        problem = _Problem(self._encoder, question)
        if problem.impossible:
            return Answer("no")
        solver = self._solver
        solver.push()
        try:
            return self._searched(solver, problem)
        finally:
            solver.pop()

    def _searched(self, solver: Any, problem: "_Problem") -> Answer:
        """Is it possible at all? Then an example, the best first; any example in the end.

        What the solver at hand does not know is asked of a fresh one.
        """
        solver.add(problem.hard)
        failure = _Failure(problem.open)
        outcome = self._check(solver, self._timeout_ms)
        if outcome == z3.unknown:
            failure.note(solver.reason_unknown())
            self._solver, solver = self._fresh(), self._fresh()
            solver.add(problem.hard)
            outcome = self._check(solver, self._timeout_ms)
        if outcome == z3.unsat:
            return Answer("no")
        first = Example(self._encoder, solver.model(), problem.places) if outcome == z3.sat else None
        for wishes, obeys in problem.wishes():
            found = self._example(solver, problem, wishes, failure)
            if found is not None:
                return Answer("yes", *found, obeys_schema=obeys)
        found = problem.confirmed(first) if first is not None else None
        if found is None and first is not None:
            found = self._example(solver, problem, [first.differs()], failure)
        if found is not None:
            return Answer("yes", *found, obeys_schema=not problem.has_schema)
        return Answer("unknown", reason=failure.told())

    @staticmethod
    def _check(solver: Any, timeout_ms: int) -> Any:
        solver.set("timeout", timeout_ms)
        return solver.check()

    def _example(
        self, solver: Any, problem: "_Problem", wishes: list[Formula], failure: "_Failure"
    ) -> tuple[dict[str, Any], datetime] | None:
        """A confirmed example that meets the wishes; one that is refuted is kept out and another asked for."""
        solver.push()
        try:
            solver.add(_without_true(wishes))
            for _ in range(_TRIES):
                outcome = self._check(solver, self._timeout_ms // 4)
                if outcome != z3.sat:
                    failure.note(solver.reason_unknown() if outcome == z3.unknown else "")
                    return None
                example = Example(self._encoder, solver.model(), problem.places)
                found = problem.confirmed(example)
                if found is not None:
                    return found
                failure.refuted += 1
                solver.add(example.differs())
        finally:
            solver.pop()
        return None


class _Failure:
    """Why there is neither an example nor a proof."""

    def __init__(self, left_open: tuple[str, ...]) -> None:
        self.refuted = 0
        self._reasons: dict[str, None] = {}
        self._open = left_open

    def note(self, reason: str) -> None:
        """The solver did not know."""
        if reason:
            self._reasons[reason] = None

    def told(self) -> str:
        """The reason for people."""
        parts = []
        if self._open:
            parts.append("the solver cannot express " + "; ".join(self._open[:5]))
        if any("timeout" in reason or "canceled" in reason for reason in self._reasons):
            parts.append("the time was over")
        elif any("memory" in reason for reason in self._reasons):
            parts.append("the memory was used up")
        elif self._reasons:
            parts.append(f"the solver does not know ({next(iter(self._reasons))})")
        if self.refuted and not self._open:
            parts.append("the solver's examples did not hold in the evaluator")
        return ", and ".join(parts) or "no example was found"


class _Problem:
    """A question as formulas."""

    def __init__(self, encoder: Encoder, question: Question) -> None:
        self._encoder = encoder
        self._question = question
        self._conditions = [(part, Condition.compile(part.condition)) for part in question.parts]
        encoded = [encoder.condition(part.condition) for part in question.parts]
        self._preferred = [encoder.condition(source) for source in question.prefer]
        places: dict[Place, None] = {}
        for one in (*encoded, *self._preferred):
            places.update(dict.fromkeys(one.places))
        self.places = list(places)
        self.open = tuple(dict.fromkeys(reason for one in encoded for reason in one.open))
        self._unsure = [when for one in encoded for when in one.unsure]
        wanted = [_wanted(part, one) for part, one in zip(question.parts, encoded, strict=True)]
        self.impossible = any(formula is False for formula in wanted)
        self.hard = _without_true(
            (
                *wanted,
                *(law for one in (*encoded, *self._preferred) for law in one.laws),
                *(law for place in self.places for law in place.laws),
                *self._scoped(),
            )
        )

    def wishes(self) -> Iterator[tuple[list[Formula], bool]]:
        """What a good example meets beside the question, the best first, and whether that is the schema."""
        readable_ones = [*self._small(), *self._versions()]
        schema, preferred = self._schema(), [one.true for one in self._preferred]
        if schema is not None and preferred:
            yield [schema, *preferred, *readable_ones], True
        if preferred:
            yield [*preferred, *readable_ones], schema is None
        if schema is not None:
            yield [schema, *readable_ones], True
        yield readable_ones, schema is None

    @property
    def has_schema(self) -> bool:
        """Whether a schema was given."""
        return bool(self._question.schema)

    def confirmed(self, example: Example) -> tuple[dict[str, Any], datetime] | None:
        """The example as a context, if every part really turns out as wanted."""
        setting = self._question.setting
        try:
            document, moment = example.context(setting), example.moment(setting)
        except UnfitError:
            return None
        for candidate in (_mapped(document), document):
            if self._holds(candidate, moment):
                return candidate, moment
        return None

    def _holds(self, document: dict[str, Any], moment: datetime) -> bool:
        try:
            context = parse_context(document).with_variables(now=moment)
        except RuleError:
            return False
        if not context.clean:
            return False
        for part, condition in self._conditions:
            outcome = condition.evaluate(context)
            failed = isinstance(outcome, EvaluationFailure)
            wanted = {"true": outcome is True, "not_true": outcome is not True, "error": failed}[part.wanted]
            if not wanted:
                return False
        return True

    def _scoped(self) -> list[Formula]:
        """What the scopes say about places that the conditions read."""
        setting, used = self._question.setting, set(self.places)
        laws: list[Formula] = []
        name = self._encoder.place(("tool", "name"))
        if name in used:
            laws += [_fits(name, tool) for tool in setting.tools]
        agent = self._encoder.place(("task", "agent"))
        if agent in used and setting.agent:
            laws += _is_text(agent, setting.agent)
        laws += self._tagged(setting, used)
        now = self._encoder.now
        if setting.since is not None:
            laws.append(now >= _microseconds(setting.since))
        if setting.until is not None:
            laws.append(now < _microseconds(setting.until))
        return laws

    def _tagged(self, setting: Setting, used: set[Place]) -> list[Formula]:
        tags = self._encoder.place(("task", "tags"))
        if tags not in used or not setting.tags:
            return []
        laws = [tags.holds(LIST), tags.length >= len(set(setting.tags))]
        return laws

    def _versions(self) -> list[Formula]:
        version = self._encoder.place(("tool", "version"))
        if version not in set(self.places) or not self._question.setting.version:
            return []
        return _is_text(version, self._question.setting.version)

    def _small(self) -> list[Formula]:
        """Lists and texts that a person can read."""
        small: list[Formula] = [self._encoder.now == _microseconds(self._question.setting.moment)]
        for place in self.places:
            if LIST in place.possible:
                small.append(place.length <= ITEMS)
            if NAN in place.possible:
                small.append(neg(place.holds(NAN)))
        small += [neg(when) for when in self._unsure]
        return small

    def _schema(self) -> Formula | None:
        if not self._question.schema:
            return None
        return obeyed(self._encoder.place(("input",)), json.loads(self._question.schema))


def _wanted(part: Part, encoded: Encoded) -> Formula:
    if part.wanted == "true":
        return encoded.true
    if part.wanted == "not_true":
        return neg(encoded.true)
    return neg(any_of((encoded.true, encoded.false)))


def _without_true(formulas: Iterable[Formula]) -> list[Formula]:
    return [formula for formula in formulas if formula is not True]


def _fits(name: Place, tool: str) -> Formula:
    if "*" not in tool and "?" not in tool:
        return all_of(_is_text(name, tool))
    try:
        return all_of((_is_map(name), name.holds(TEXT), z3.InRe(name.text, glob_language(tool))))
    except UnsupportedError:
        return True


def _is_text(place: Place, text: str) -> list[Formula]:
    try:
        return [_is_map(place), place.holds(TEXT), place.text == constant(text)]
    except UnsupportedError:
        return []


def _is_map(place: Place) -> Formula:
    return place.parent.holds(MAP) if place.parent is not None else True


def _microseconds(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


def _mapped(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _mapped(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_mapped(part) for part in value]
    return readable(value) if isinstance(value, str) else value


def _told(fault: z3.Z3Exception) -> str:
    value = fault.value if hasattr(fault, "value") else fault
    return value.decode() if isinstance(value, bytes) else str(value)
