"""Rules on trial: the answer of each arm is that of a set made for it, and both arms are noted."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hgmem.rules import Decision, Rule, RuleError, Ruleset
from hgmem.rules.assignment import Trial, assign, unit_digest
from tests.hgmem.rules.strategies import conditions, contexts

NOW = datetime(2026, 5, 1, tzinfo=UTC)
SHARE = 5_000
TRIAL = UUID(int=7)
CANARY = next(f"t{at}" for at in range(99) if assign("r0", "s", f"t{at}", share=SHARE) == "canary")
CONTROL = next(f"t{at}" for at in range(99) if assign("r0", "s", f"t{at}", share=SHARE) == "control")


def rule(uuid: str = "r0", version: int = 1, **fields: Any) -> Rule:
    return Rule.from_document(
        {
            "uuid": uuid,
            "version": version,
            "applies_to": "TOOL_CALL:alpha",
            "condition": "input.a == 1",
            "action_type": "PARAMETER_TRANSFORM",
            "action_detail": {"op": "set", "field": "b", "value": version},
            **fields,
        }
    )


def on_trial(one: Rule, mode: str = "canary", share: int = SHARE, kept: tuple[str, ...] = ()) -> Rule:
    trial = Trial.model_validate(
        {"canary": TRIAL, "salt": "s", "share": share, "stage": 2, "mode": mode, "kept": kept}
    )
    return one.model_copy(update={"trial": trial})


def decide(rules: list[Rule], task: dict[str, Any] | None, **fields: Any) -> Decision:
    context = {"tool": "alpha", "input": {"a": 1}, "task": task or {}, **fields}
    return Ruleset.compile(rules, version="1").decide(context, now=NOW, explain=True)


def arms(decision: Decision) -> list[tuple[str, int, str, str]]:
    return [(seen.rule, seen.version, seen.arm, seen.unit) for seen in decision.exposures]


@pytest.mark.parametrize(
    ("mode", "task", "value", "noted"),
    [
        pytest.param("canary", {"id": CANARY}, 2, [("r0", 2, "canary", CANARY)], id="canary"),
        pytest.param("canary", {"id": CONTROL}, 1, [("r0", 2, "control", CONTROL)], id="control"),
        pytest.param("canary", {}, 1, [], id="no task"),
        pytest.param("shadow", {"id": CANARY}, 1, [("r0", 2, "shadow", CANARY)], id="shadow"),
        pytest.param("shadow", {}, 1, [], id="shadow without a task"),
        pytest.param("holdout", {"id": CANARY}, 2, [("r0", 2, "canary", CANARY)], id="promoted"),
        pytest.param("holdout", {"id": CONTROL}, 1, [("r0", 2, "control", CONTROL)], id="holdout"),
        pytest.param("holdout", {}, 2, [], id="promoted without a task"),
        pytest.param(
            "canary", {"id": CONTROL, "root": CANARY}, 2, [("r0", 2, "canary", CANARY)], id="sub-task"
        ),
    ],
)
def test_edit_on_trial__by_mode_and_task__acts_or_leaves_the_call_to_the_baseline(
    mode: str, task: dict[str, Any], value: int, noted: list[Any]
) -> None:
    decision = decide([rule(), on_trial(rule(version=2), mode)], task)

    assert decision.input == {"a": 1, "b": value}
    assert [(entry["rule"], entry["version"]) for entry in decision.applied] == [("r0", value)]
    assert arms(decision) == noted


def test_exposure__of_a_canary__carries_stage_share_and_trial() -> None:
    [seen] = decide([on_trial(rule())], {"id": CONTROL}).exposures
    assert (seen.canary, seen.stage, seen.share) == (TRIAL, 2, SHARE)


def test_kept_task__above_its_old_share__stays_in_the_control_arm() -> None:
    decision = decide([on_trial(rule(), kept=(unit_digest(CANARY),))], {"id": CANARY})
    assert (decision.input, arms(decision)) == ({"a": 1}, [("r0", 1, "control", CANARY)])


@pytest.mark.parametrize(
    ("baseline", "candidate", "mode", "count"),
    [
        pytest.param("input.a == 1", "input.a == 9", "canary", 1, id="only the baseline matches"),
        pytest.param("input.a == 9", "input.a == 1", "canary", 1, id="only the candidate matches"),
        pytest.param("input.a == 9", "input.a == 9", "canary", 0, id="neither"),
        pytest.param("input.a == 1", "input.a == 9", "shadow", 0, id="shadow that would not fire"),
        pytest.param("input.a == 9", "input.a == 1", "shadow", 1, id="shadow that would fire"),
        pytest.param("input.a == 9", "input.a > 'x'", "canary", 0, id="an error is no match"),
    ],
)
@pytest.mark.parametrize("task", [pytest.param(CANARY, id="canary"), pytest.param(CONTROL, id="control")])
def test_exposure__of_an_edit__when_either_version_would_have_a_say(
    baseline: str, candidate: str, mode: str, count: int, task: str
) -> None:
    edit = on_trial(rule(version=2, condition=candidate), mode)
    decision = decide([rule(condition=baseline), edit], {"id": task})
    assert len(decision.exposures) == count


def test_exposure__condition_that_a_higher_rule_undoes__is_judged_by_the_question() -> None:
    higher = rule("r9", priority=9, condition="", action_detail={"op": "set", "field": "a", "value": 0})
    decision = decide([higher, on_trial(rule())], {"id": CANARY})
    assert [entry["rule"] for entry in decision.suppressed] == ["r0"]
    assert arms(decision) == [("r0", 1, "canary", CANARY)]


@pytest.mark.parametrize(
    ("task", "foreseen", "arm"),
    [
        pytest.param(CANARY, ["r0"], "canary", id="canary"),
        pytest.param(CONTROL, [], "control", id="control"),
    ],
)
def test_after_call_rule__on_trial_and_foreseen__is_exposed_before_the_call(
    task: str, foreseen: list[str], arm: str
) -> None:
    adjustment = {"op": "treat_as_error"}
    document = {"action_type": "POST_CALL_PARSING_ADJUST", "action_detail": adjustment}
    late = rule(applies_to="AFTER_TOOL_CALL:alpha", condition="input.a == 1 && output.b == 1", **document)
    decision = decide([on_trial(late)], {"id": task})
    assert [entry["rule"] for entry in decision.after_call] == foreseen
    assert arms(decision) == [("r0", 1, arm, task)]


@pytest.mark.parametrize(
    ("task", "told", "withheld"),
    [
        pytest.param(CANARY, [2], [1], id="canary"),
        pytest.param(CONTROL, [1], [2], id="control"),
    ],
)
def test_failing_conditions__of_both_versions__only_that_of_the_acting_one_is_told(
    task: str, told: list[int], withheld: list[int]
) -> None:
    fails = "input.a > 'x'"
    edit = on_trial(rule(version=2, condition=fails))
    decision = decide([rule(condition=fails), edit, rule("r1", condition="input.a == 5")], {"id": task})
    assert [fault["version"] for fault in decision.errors] == told
    assert [fault["version"] for fault in decision.withheld_errors] == withheld
    assert {miss["version"] for miss in decision.near_misses or [] if miss["rule"] == "r0"} == set(told)


@pytest.mark.parametrize(
    ("tool", "trials"),
    [
        pytest.param("alpha", 2, id="the baseline's, and a pattern's"),
        pytest.param("beta", 1, id="the candidate's"),
        pytest.param("other", 0, id="another"),
    ],
)
def test_trials__of_a_tool__are_those_with_a_version_that_may_have_a_say(tool: str, trials: int) -> None:
    moved = on_trial(rule(version=2, applies_to="TOOL_CALL:beta"))
    pattern = on_trial(rule("r1", applies_to="TOOL_CALL:al*"))
    decision = decide([rule(), moved, pattern, rule("r2", applies_to="TOOL_CALL:*")], {"id": "t"}, tool=tool)
    assert decision.trials == trials


def test_compile__two_plain_or_two_candidate_versions__are_refused() -> None:
    rules = [rule(), rule(version=2), on_trial(rule(version=3)), on_trial(rule(version=4))]
    ruleset = Ruleset.compile(rules, version="1")
    assert [(one.uuid, one.version) for one in ruleset.broken] == [("r0", 2), ("r0", 4)]


@pytest.mark.parametrize("trial", [None, Trial(canary=TRIAL, salt="s", share=1, kept=("a",))])
def test_document__of_a_rule__names_the_trial_only_where_there_is_one(trial: Trial | None) -> None:
    one = rule().model_copy(update={"trial": trial})
    assert ("trial" in one.to_document()) is (trial is not None)
    assert Rule.from_document(one.to_document()) == one


ACTIONS = st.sampled_from(
    [
        ("PARAMETER_TRANSFORM", {"op": "set", "field": "a", "value": 1}, ("before",)),
        ("PARAMETER_TRANSFORM", {"op": "set_default", "field": "b", "default_value": "x"}, ("before",)),
        ("TOOL_SWITCH", {"tool": "beta"}, ("before",)),
        ("PRE_CALL_VALIDATION", {"on_failure": "block", "message": "no"}, ("before",)),
        ("PROMPT_ENHANCEMENT", {"text": "mind {{ input.a }}"}, ("before", "after", "planning")),
        ("POST_CALL_PARSING_ADJUST", {"op": "treat_as_error"}, ("after",)),
    ]
)


@st.composite
def any_rules(draw: st.DrawFn, uuid: str, version: int) -> Rule | None:
    """Any kind of rule, with rulings on its neighbours."""
    action_type, detail, points = draw(ACTIONS)
    document = {
        "uuid": uuid,
        "version": version,
        "applies_to": {
            "tool": draw(st.sampled_from(["alpha", "al*", "*"])),
            "point": draw(st.sampled_from(points)),
        },
        "condition": draw(conditions),
        "action_type": action_type,
        "action_detail": detail,
        "priority": draw(st.integers(0, 2)),
        "ruled_over": draw(st.sampled_from([[], ["r1"], ["r0"]])),
    }
    try:
        return Rule.from_document(document)
    except RuleError:
        return None


others = st.tuples(*(any_rules(f"r{at}", 1) for at in range(1, 6)))


@settings(max_examples=120, deadline=None)
@given(
    any_rules("r0", 2),
    st.one_of(st.none(), any_rules("r0", 1)),
    others,
    contexts(),
    st.sampled_from(["canary", "shadow", "holdout"]),
    st.sampled_from([CANARY, CONTROL, None]),
)
def test_decide__any_rules_on_trial__answers_as_the_set_of_that_arm(
    candidate: Rule | None,
    baseline: Rule | None,
    rest: tuple[Rule | None, ...],
    document: dict[str, Any],
    mode: str,
    task: str | None,
) -> None:
    beside = [one for one in rest if one]
    old = [baseline] if baseline else []
    new = [candidate] if candidate else []
    context = {**document, "task": {"id": task}}
    acts = task == CANARY if mode == "canary" else mode == "holdout" and task != CONTROL
    expected = Ruleset.compile([*beside, *(new if new and acts else old)], version="1")
    ruleset = Ruleset.compile([*beside, *old, *(on_trial(one, mode) for one in new)], version="1")

    decision, wanted = (one.decide(context, now=NOW, explain=True) for one in (ruleset, expected))

    assert json.dumps(decision.to_dict()) == json.dumps(wanted.to_dict())
    assert not (task is None and decision.exposures)
