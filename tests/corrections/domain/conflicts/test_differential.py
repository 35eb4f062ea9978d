"""The solver against the evaluator: what really happens must never be called impossible."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrections.domain.conflicts import Part, Question, Setting
from corrections.domain.conflicts.answering import Solving
from corrections.domain.conflicts.outlines import apart, outline_of
from hgmem.rules import Condition, RuleError, parse_context
from tests.corrections.domain.conflicts.vocabulary import Vocabulary, named
from tests.hgmem.rules import strategies

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ANYWHERE = Setting("before", NOW)
SEEDS = (1, 2)


class _World:
    """Conditions with what they say of each context."""

    def __init__(self, seed: int, conditions: int, contexts: int) -> None:
        vocabulary = Vocabulary(seed)
        calls = [parse_context(one).with_variables(now=NOW) for one in vocabulary.contexts(contexts)]
        self.conditions = vocabulary.conditions(conditions)
        self.said = {
            source: [named(Condition.compile(source).evaluate(call)) for call in calls]
            for source in self.conditions
        }

    def both_true(self, one: str, other: str) -> bool:
        return any(a == b == "true" for a, b in zip(self.said[one], self.said[other], strict=True))


def _holds(part: Part, witness: dict, moment: datetime) -> bool:
    context = parse_context(witness).with_variables(now=moment)
    said = named(Condition.compile(part.condition).evaluate(context))
    return said != "true" if part.wanted == "not_true" else said == part.wanted


@pytest.mark.parametrize("seed", SEEDS)
def test_outlines__conditions_that_meet_in_a_context__are_never_apart(seed: int) -> None:
    world = _World(seed, conditions=150, contexts=200)
    outlines = {source: outline_of(Condition.compile(source).tree) for source in world.conditions}

    wrong = [
        (one, other)
        for at, one in enumerate(world.conditions)
        for other in world.conditions[:at]
        if apart(outlines[one], outlines[other]) and world.both_true(one, other)
    ]

    assert not wrong


@pytest.mark.parametrize("seed", SEEDS)
def test_solver__what_really_happens__is_never_called_impossible(seed: int) -> None:
    world = _World(seed + 10, conditions=60, contexts=300)
    solving = Solving(timeout_ms=300)
    wrong = []

    for one, other in zip(world.conditions, world.conditions[1:], strict=False):
        for parts in (
            (Part(one), Part(other)),
            (Part(one), Part(other, "not_true")),
            (Part(one, "error"),),
        ):
            answer = solving.ask(Question(parts, ANYWHERE))
            happens = any(
                all(_fits(part, world.said[part.condition][at]) for part in parts)
                for at in range(len(world.said[one]))
            )
            if happens and answer.outcome == "no":
                wrong.append(parts)
            if answer.outcome == "yes":
                assert all(_holds(part, answer.witness or {}, answer.moment or NOW) for part in parts)

    assert not wrong


def _fits(part: Part, said: str) -> bool:
    return said != "true" if part.wanted == "not_true" else said == part.wanted


@settings(max_examples=20, deadline=None)
@given(
    st.lists(strategies.conditions, min_size=2, max_size=2),
    st.lists(strategies.contexts(), min_size=3, max_size=6),
)
def test_solver__any_accepted_conditions__agree_with_every_context(
    sources: list[str], documents: list[dict]
) -> None:
    try:
        conditions = [Condition.compile(source) for source in sources]
    except RuleError:
        return
    contexts = [parse_context(one | {"point": "after"}).with_variables(now=NOW) for one in documents]
    parts = tuple(Part(source) for source in sources)

    answer = Solving(timeout_ms=200).ask(Question(parts, Setting("after", NOW)))

    meet = any(all(one.evaluate(context) is True for one in conditions) for context in contexts)
    assert not (meet and answer.outcome == "no")
