"""The merge rule, case by case: what is sent after what, and what follows."""

from typing import Any

import pytest

from memory.domain.experience import ExperienceDoc
from memory.domain.intake import read_document
from memory.domain.merge import (
    MergeConflict,
    MergePlan,
    StoredCall,
    StoredTask,
    effective_outcome,
    merge_task,
)
from memory.domain.records import OutcomeRecord, TaskRecord, normalize


def make_record(**fields: Any) -> TaskRecord:
    doc = read_document({"external_id": "t", **fields})
    assert isinstance(doc, ExperienceDoc), doc
    return normalize(doc)


def stored(record: TaskRecord) -> StoredTask:
    """What a table would hold after this record was inserted."""
    return StoredTask(
        goal=record.goal,
        tags=record.tags,
        agent=record.agent,
        framework=record.framework,
        root_task=record.root_task,
        env=record.env,
        started_at=record.started_at,
        finished_at=record.finished_at,
        final=record.final,
        calls={call.seq: StoredCall(call.digest, call.step) for call in record.calls},
        steps={step.index: step.reasoning_digest for step in record.steps},
        outcomes=(record.outcome,) if record.outcome else (),
    )


CALL = {"tool": "a", "input": {"x": 1}}
OTHER = {"tool": "a", "input": {"x": 2}}
FULL = {
    "goal": "g",
    "tags": ["p"],
    "env": {"domain": "d"},
    "started_at": "2026-01-01T00:00:00Z",
    "final": True,
    "outcome": {"result": "failure", "by": "agent"},
    "steps": [{"reasoning": "r", "calls": [CALL, OTHER]}],
}


def test_merge__unknown_task__everything_is_inserted() -> None:
    record = make_record(**FULL)

    plan = merge_task(None, record)

    assert isinstance(plan, MergePlan)
    assert plan.insert
    assert plan.calls == record.calls
    assert plan.steps == record.steps
    assert plan.outcome_now == record.outcome


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({}, id="nothing"),
        pytest.param(FULL, id="everything"),
        pytest.param({"calls": [{**CALL, "seq": 7, "step": 2}]}, id="explicit-seq"),
    ],
)
def test_merge__same_document_again__nothing_changes(fields: dict[str, Any]) -> None:
    record = make_record(**fields)

    plan = merge_task(stored(record), record)

    assert isinstance(plan, MergePlan)
    assert plan.unchanged


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param({}, {"goal": "g"}, {"goal": "g"}, id="empty-goal-fills"),
        pytest.param({"goal": "g"}, {}, {}, id="empty-value-takes-nothing-away"),
        pytest.param({"tags": ["a"]}, {"tags": ["b", "a"]}, {"tags": ("a", "b")}, id="tags-union"),
        pytest.param({"env": {"a": 1}}, {"env": {"b": 2}}, {"env": {"a": 1, "b": 2}}, id="env-fills"),
        pytest.param({"env": {"a": None}}, {"env": {"a": 2}}, {"env": {"a": 2}}, id="env-null-fills"),
        pytest.param({}, {"final": True}, {"final": True}, id="becomes-final"),
        pytest.param({"final": True}, {}, {}, id="stays-final"),
    ],
)
def test_merge__partial_then_more__fields_fill_in(first: Any, second: Any, expected: Any) -> None:
    plan = merge_task(stored(make_record(**first)), make_record(**second))

    assert isinstance(plan, MergePlan)
    assert plan.fill == expected
    assert plan.unchanged == (not expected)


def test_merge__new_seq__only_the_new_call_is_added() -> None:
    plan = merge_task(stored(make_record(calls=[CALL])), make_record(calls=[CALL, OTHER]))

    assert isinstance(plan, MergePlan)
    assert [call.seq for call in plan.calls] == [1]


@pytest.mark.parametrize(
    ("first", "second", "field"),
    [
        pytest.param({"calls": [CALL]}, {"calls": [OTHER]}, "calls.0", id="seq-with-other-content"),
        pytest.param(
            {"calls": [CALL], "final": True}, {"calls": [CALL, OTHER]}, "calls.1", id="call-after-final"
        ),
        pytest.param({"goal": "a"}, {"goal": "b"}, "goal", id="other-goal"),
        pytest.param({"env": {"d": 1}}, {"env": {"d": 2}}, "env.d", id="other-env"),
        pytest.param(
            {"steps": [{"reasoning": "a"}]}, {"steps": [{"reasoning": "b"}]}, "steps.0", id="other-reasoning"
        ),
        pytest.param(
            {"started_at": "2026-01-01T00:00:00Z"},
            {"started_at": "2026-01-02T00:00:00Z"},
            "started_at",
            id="other-start",
        ),
    ],
)
def test_merge__contradiction__is_a_conflict_that_names_the_field(
    first: Any, second: Any, field: str
) -> None:
    conflict = merge_task(stored(make_record(**first)), make_record(**second))

    assert isinstance(conflict, MergeConflict)
    assert [error.field for error in conflict.errors] == [field]


def test_merge__second_call_joins_a_step__the_step_gets_a_row() -> None:
    first = stored(make_record(calls=[{**CALL, "step": 3}]))

    plan = merge_task(first, make_record(calls=[{**CALL, "step": 3}, {**OTHER, "step": 3}]))

    assert first.steps == {}
    assert isinstance(plan, MergePlan)
    assert [step.index for step in plan.steps] == [3]


def test_merge__second_call_joins_a_step_by_seq__the_step_gets_a_row() -> None:
    plan = merge_task(
        stored(make_record(calls=[{**CALL, "step": 3}])), make_record(calls=[{**OTHER, "seq": 1, "step": 3}])
    )

    assert isinstance(plan, MergePlan)
    assert [step.index for step in plan.steps] == [3]


def test_merge__reasoning_for_a_bare_step__fills_it() -> None:
    calls = [{**CALL, "seq": 0}, {**OTHER, "seq": 1}]
    first = stored(make_record(steps=[{"calls": calls}]))

    plan = merge_task(first, make_record(steps=[{"reasoning": "why", "calls": calls}]))

    assert isinstance(plan, MergePlan)
    assert plan.steps == ()
    assert [step.reasoning for step in plan.fill_steps] == ["why"]


def test_merge__outcome_after_final__is_appended() -> None:
    first = stored(make_record(final=True, outcome={"result": "success", "by": "agent"}))

    plan = merge_task(first, make_record(outcome={"result": "failure", "by": "human"}))

    assert isinstance(plan, MergePlan)
    assert plan.outcome is not None
    assert plan.outcome_now == plan.outcome


def test_merge__late_repetition__does_not_override_what_was_said_since() -> None:
    yes = make_record(outcome={"result": "success", "by": "human"})
    no = make_record(outcome={"result": "failure", "by": "human"})
    said = StoredTask(outcomes=(yes.outcome, no.outcome))  # type: ignore[arg-type]

    plan = merge_task(said, yes)

    assert isinstance(plan, MergePlan)
    assert plan.unchanged
    assert plan.outcome_now == no.outcome


def outcome(by: Any, result: Any, reward: float | None = None) -> OutcomeRecord:
    return OutcomeRecord(result=result, reward=reward, by=by, note="")


@pytest.mark.parametrize(
    ("said", "winner"),
    [
        pytest.param([("human", "failure"), ("evaluator", "success")], 0, id="human-over-evaluator"),
        pytest.param(
            [("evaluator", "failure"), ("environment", "success")], 0, id="evaluator-over-environment"
        ),
        pytest.param([("agent", "success"), ("environment", "failure")], 1, id="environment-over-agent"),
        pytest.param([("human", "failure"), ("human", "success")], 1, id="newest-of-equals"),
        pytest.param([("agent", "success"), ("human", "unknown")], 0, id="a-shrug-says-nothing"),
        pytest.param([("agent", "unknown"), ("human", "unknown")], 1, id="only-shrugs"),
    ],
)
def test_effective_outcome__several_sources__precedence(said: list[tuple[str, str]], winner: int) -> None:
    outcomes = tuple(outcome(by, result) for by, result in said)

    assert effective_outcome(outcomes) is outcomes[winner]


def test_effective_outcome__reward_without_result__counts() -> None:
    outcomes = (outcome("agent", "success"), outcome("evaluator", "unknown", 0.0))

    assert effective_outcome(outcomes) is outcomes[1]


def test_effective_outcome__nobody_said_anything__is_none() -> None:
    assert effective_outcome(()) is None
