"""What failing calls share beyond the values that their errors blame."""

from typing import Any

import pytest

from corrections.domain.inducing import Inducer, ObservedCall

from .teaching import Made, holds, teach, teach_calls

Cases = list[dict[str, Any]]
JUNK: Cases = [{}, {"n": None}, {"n": "many"}, {"n": []}, {"n": {}}, {"n": True}]


def told(fine: Cases, failing: Cases, message: str) -> Inducer:
    """Good calls and failing ones, each a run of its own."""
    return teach([*([(some, "")] for some in fine), *([(some, message.format(**some))] for some in failing)])


GENERAL = [
    pytest.param(
        [{"n": n} for n in (1, 20, 55, 80, 90, 95)], [{"n": n} for n in (130, 250, 900)],
        "{n} is too many, at most 100 are sent", "input.n > 100",
        [{"n": 101}, {"n": 5_000.5}], [{"n": 99}, {"n": 100}], id="above-the-limit-that-is-said",
    ),
    pytest.param(
        [{"n": n} for n in (1, 20, 55, 80, 90, 95)], [{"n": n} for n in (130, 250, 900)],
        "{n} is too many", "input.n > 100", [{"n": 101}], [{"n": 99}], id="above-a-round-number-in-the-gap",
    ),
    pytest.param(
        [{"n": n} for n in (0.5, 1.5, 2.5, 9.0, 11.0, 30.0)], [{"n": n} for n in (-2.5, -7.0, -1.5)],
        "{n} is below zero", "input.n < ", [{"n": -3}, {"n": -2.5}], [{"n": 0.5}, {"n": 4}], id="below",
    ),
    pytest.param(
        [{"n": list(range(size))} for size in (1, 2, 3, 4, 5, 6)],
        [{"n": list(range(size))} for size in (25, 30, 44)],
        "批量过大", "input.n.size() > ", [{"n": [0] * 60}], [{"n": [0] * 7}, {"n": "short"}], id="long-list",
    ),
    pytest.param(
        [{"n": "好" * size} for size in (1, 2, 3, 4, 5, 6)], [{"n": "坏" * size} for size in (60, 70, 61)],
        "标题太长", "input.n.size() > ", [{"n": "新" * 64}], [{"n": "新" * 4}], id="long-text",
    ),
    pytest.param(
        [{"n": f"file{at}.txt"} for at in range(8)], [{"n": f"tool{at}.exe"} for at in range(4)],
        "this kind of file is not allowed", 'input.n.endsWith(".exe")',
        [{"n": "other.exe"}], [{"n": "other.txt"}, {"n": "exe"}], id="ending",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("fine", "failing", "message", "said", "caught", "left_alone"), GENERAL)
def test_inducer__failing_values_on_one_side__are_told_by_a_bound(
    fine: Cases, failing: Cases, message: str, said: str, caught: Cases, left_alone: Cases
) -> None:
    proposals = told(fine, failing, message).proposals()

    (proposal,) = [one for one in proposals if said in one.condition]

    assert [holds(proposal.condition, some) for some in caught] == [True] * len(caught)
    assert [holds(proposal.condition, some) for some in left_alone] == [False] * len(left_alone)
    assert not any(holds(proposal.condition, some) for some in (*JUNK, *fine))
    assert (len(proposal.backtest.caught), proposal.backtest.hit) == (len(failing), ())


@pytest.mark.parametrize(
    ("fine", "failing"),
    [
        pytest.param([1, 2, 3, 4, 5, 6], [130, 250], id="two-failing-runs"),
        pytest.param([1, 2], [130, 250, 900], id="few-good-values"),
        pytest.param([1, 2, 3, 4, 5, 200], [130, 250, 900], id="a-good-value-among-the-failing"),
    ],
)
def test_inducer__too_little_evidence__gives_no_bound(fine: list[int], failing: list[int]) -> None:
    inducer = told([{"n": n} for n in fine], [{"n": n} for n in failing], "{n} is too many")

    assert not any(" > " in proposal.condition for proposal in inducer.proposals())


def test_inducer__good_call_beyond_the_bound__moves_it() -> None:
    inducer = told(
        [{"n": n} for n in (1, 20, 55, 80, 90, 95)], [{"n": n} for n in (300, 350, 900)], "{n}: no"
    )
    inducer.changes()

    teach_calls([[("act", {"n": 250}, "")]], env={"site": "depot"}, inducer=inducer)

    assert inducer.changes().withdrawn
    assert not any(holds(proposal.condition, {"n": 250}) for proposal in inducer.proposals())
    assert any(holds(proposal.condition, {"n": 400}) for proposal in inducer.proposals())


def test_inducer__bound_over_blamed_values__takes_the_place_of_their_own_rules() -> None:
    proposals = told(
        [{"n": n} for n in (1, 20, 55, 80, 90, 95)], [{"n": n} for n in (130, 250, 900)], "{n} is too many"
    ).proposals()

    assert len(proposals) == 1


def test_inducer__environment_that_only_failing_runs_have__is_the_condition() -> None:
    def run(at: int, tier: str, error: str) -> None:
        call = ObservedCall(
            f"{tier}-{at}", f"{tier}-{at}", "act", {"x": f"v{at}"}, bool(error), error,
            env={"site": "depot", "tier": tier},
        )  # fmt: skip
        inducer.learn(call)
        inducer.end_run(call.run)

    inducer = Inducer()
    for at in range(8):
        run(at, "gold", "")
    for at in range(8, 12):
        run(at, "free", "upgrade your plan")

    (proposal,) = [one for one in inducer.proposals() if "tier" in one.condition]

    assert holds(proposal.condition, {"x": "new"}, env={"site": "depot", "tier": "free"})
    assert not holds(proposal.condition, {"x": "new"}, env={"site": "depot", "tier": "gold"})
    assert not holds(proposal.condition, {"x": "new"}, env={"site": "depot"})


def test_inducer__call_before_that_only_failing_runs_have__is_the_condition() -> None:
    def run(before: str, at: int, error: str) -> list[Made]:
        return [(before, {}, ""), ("act", {"x": f"v{at}"}, error)]

    fine = [run("look", at, "") for at in range(8)]
    failing = [run("close", at, "nothing is open") for at in range(8, 12)]

    (proposal,) = [one for one in teach_calls([*fine, *failing]).proposals() if "history" in one.condition]

    assert holds(proposal.condition, {"x": "n"}, env={}, history=[("close", {}, "")])
    assert not holds(proposal.condition, {"x": "n"}, env={}, history=[("close", {}, ""), ("look", {}, "")])
    assert not holds(proposal.condition, {"x": "n"}, env={})
