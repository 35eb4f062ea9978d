"""Failures that never happened, because a rule had asked for the step that was forgotten."""

import pytest

from corrections.domain.inducing import Inducer, ObservedCall, Proposal, own_calls
from hgmem.rules import Condition, parse_context

CLOSED = "the valve is closed"
Told = tuple[str, bool]
"""A tool, and whether the call failed."""


def run(inducer: Inducer, name: str, *made: Told, goal: str, prompted: int = 0) -> list[ObservedCall]:
    """A run that the inducer is told; before its last call ``prompted`` steps were asked for by rules."""
    calls = [
        ObservedCall(
            id=f"{name}-{at}", run=name, tool=tool, input={"at": "v-1"}, failed=failed,
            message=CLOSED if failed else "", env={"site": "depot"}, goal=goal,
            prompted=prompted if at == len(made) - 1 else 0,
        )
        for at, (tool, failed) in enumerate(made)
    ]  # fmt: skip
    for call in calls:
        inducer.learn(call)
    inducer.end_run(name)
    return calls


def taught() -> Inducer:
    """Two goals showed in general that the valve is opened before pumping."""
    inducer = Inducer()
    for name in ("a", "b"):
        run(inducer, name, ("pump", True), ("open", False), ("pump", False), goal=f"goal {name}")
    return inducer


def steps(inducer: Inducer) -> list[Proposal]:
    return [one for one in inducer.proposals() if one.action_type == "INSERT_STEP"]


def speaks(inducer: Inducer, goal: str) -> bool:
    """Whether a step is asked for before pumping, when nothing else was done."""
    context = parse_context(
        {"tool": "pump", "input": {"at": "v-1"}, "env": {"site": "depot"}, "task": {"id": "t", "goal": goal}}
    )
    return any(Condition.compile(one.condition).evaluate(context) for one in steps(inducer))


def test_inducer__general_step_is_taken_back__keeps_it_for_the_goal_that_it_saved() -> None:
    inducer = taught()
    assert speaks(inducer, "goal of another kind")
    inducer.learn_saved(run(inducer, "c", ("open", False), ("pump", False), goal="water", prompted=1))

    run(inducer, "d", ("pump", False), goal="goal without need")

    assert not speaks(inducer, "goal without need")
    assert speaks(inducer, "water")
    (kept,) = [one for one in steps(inducer) if "water" in one.condition]
    assert CLOSED in kept.action_detail["reason"]
    assert kept.backtest.caught == ("c-1",)


def test_inducer__general_step_stands__proposes_nothing_beside_it() -> None:
    inducer = taught()
    before = [one.key for one in steps(inducer)]

    inducer.learn_saved(run(inducer, "c", ("open", False), ("pump", False), goal="water", prompted=1))

    assert [one.key for one in steps(inducer)] == before


@pytest.mark.parametrize(
    ("made", "prompted"),
    [
        pytest.param([("open", False), ("pump", False)], 0, id="the agent's own step"),
        pytest.param([("look", False), ("pump", False)], 1, id="a step that no failing call needed"),
    ],
)
def test_inducer__step_that_saved_nothing__is_not_kept(made: list[Told], prompted: int) -> None:
    inducer = taught()
    inducer.learn_saved(run(inducer, "c", *made, goal="water", prompted=prompted))

    run(inducer, "d", ("pump", False), goal="goal without need")

    assert not speaks(inducer, "water")


def test_inducer__step_asked_for_in_vain__shows_that_the_call_needs_none() -> None:
    inducer = taught()
    assert speaks(inducer, "goal of another kind")

    run(inducer, "c", ("open", True), ("pump", False), goal="dry", prompted=1)

    assert not speaks(inducer, "goal of another kind")


def test_inducer__saved_again_and_again__is_counted_once() -> None:
    inducer = taught()
    run(inducer, "d", ("pump", False), goal="goal without need")
    for name in ("c", "e"):
        inducer.learn_saved(run(inducer, name, ("open", False), ("pump", False), goal="water", prompted=1))

    (kept,) = [one for one in steps(inducer) if "water" in one.condition]
    assert kept.backtest.caught == ("c-1",)


@pytest.mark.parametrize(
    ("made", "prompted", "tools"),
    [
        pytest.param([("open", True), ("pump", False)], 1, ["pump"], id="step in vain"),
        pytest.param([("open", False), ("pump", False)], 1, ["open", "pump"], id="step that went well"),
        pytest.param([("open", True), ("pump", False)], 0, ["open", "pump"], id="the agent's own failure"),
        pytest.param([("open", True), ("pump", True)], 1, ["open", "pump"], id="the call failed as well"),
        pytest.param(
            [("look", True), ("open", True), ("shut", False), ("pump", False)], 2, ["look", "shut", "pump"],
            id="one of two",
        ),
    ],
)  # fmt: skip
def test_own_calls__steps_asked_for_in_vain__are_left_out(
    made: list[Told], prompted: int, tools: list[str]
) -> None:
    kept = own_calls(run(Inducer(), "r", *made, goal="water", prompted=prompted))

    assert [call.tool for call in kept] == tools
    assert kept[-1].prompted == prompted - (len(made) - len(kept))
