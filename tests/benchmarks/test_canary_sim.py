"""The simulation of canaries decides as the product's own judge does."""

from collections import defaultdict

import numpy as np
import pytest

from benchmarks.canary_sim_checks import guarded, missed
from benchmarks.canary_sim_peers import Arms, chance_to_win, confidence_sequence, repeated_z_test
from benchmarks.canary_sim_replay import NEVER, replay, replay_together
from benchmarks.canary_sim_worlds import Draws, World, constant, draw, slow_drift
from corrections.domain.effect import ArmCounts, Evidence, Limits, StageCounts, harm_log_e, judge


class Slow:
    """One canary by the book: counts by stage, and judge after every task."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.stage = 0
        self.exposed: dict[int, list[int]] = defaultdict(lambda: [0, 0])
        self.ended: dict[int, list[list[int]]] = defaultdict(lambda: [[0, 0], [0, 0]])

    @property
    def share(self) -> float:
        return self.share_of(self.stage)

    def share_of(self, stage: int) -> float:
        return self.limits.full_share if stage % 2 else self.limits.first_share

    def expose(self, with_rule: bool) -> None:
        self.exposed[self.stage][0 if with_rule else 1] += 1

    def end(self, stage: int, with_rule: bool, failed: bool) -> None:
        arm = self.ended[stage][0 if with_rule else 1]
        arm[0] += 1
        arm[1] += failed

    def stages(self) -> list[StageCounts]:
        return [
            StageCounts(self.share_of(stage), ArmCounts(*canary), ArmCounts(*control))
            for stage, (canary, control) in sorted(self.ended.items())
        ]

    def judged(self, live: int = 1, other_harm: tuple[float, ...] = ()) -> str:
        evidence = Evidence(
            state="running",
            share=self.share,
            trial=self.stages(),
            exposed=[(self.share_of(stage), *counts) for stage, counts in sorted(self.exposed.items())],
            live=live,
            other_harm=other_harm,
        )
        step = judge(evidence, rules=self.limits).step
        self.stage += step in {"ramp", "brake"}
        return step


def _by_the_book(draws: Draws, run: int, limits: Limits) -> dict[str, int]:
    canary, first = Slow(limits), {}
    tasks: list[tuple[int, bool, bool]] = []
    for now in range(draws.world.tasks):
        with_rule = bool(draws.arms[run, now] < canary.share)
        rate = draws.world.canary[now] if with_rule else draws.world.control[now]
        tasks.append((canary.stage, with_rule, bool(draws.luck[run, now] < rate)))
        canary.expose(with_rule)
        for task, (stage, arm, failed) in enumerate(tasks):
            delay = 0 if draws.delays is None else int(draws.delays[int(failed)][task])
            if task + delay == now:
                canary.end(stage, arm, failed)
        step = canary.judged()
        first.setdefault(step, now + 1)
        if step in {"roll_back", "promote"}:
            break
    return first


WORLDS = [
    pytest.param(constant(0.8, 0.4, 90), Limits(), id="harm"),
    pytest.param(constant(0.4, 0.9, 120), Limits(), id="benefit"),
    pytest.param(slow_drift(0.9, 0.4, 120), Limits(), id="no-effect"),
    pytest.param(constant(0.7, 0.3, 120, late=True), Limits(), id="late"),
    pytest.param(constant(0.8, 0.4, 120), Limits(first_share=0.5, full_share=0.5), id="no-ramp"),
    pytest.param(constant(0.5, 0.5, 160), Limits(mismatch_p=0.001, min_look=40), id="longer-look"),
]


@pytest.mark.parametrize(("world", "limits"), WORLDS)
def test_replay__many_runs__decides_as_judge_does(world: World, limits: Limits) -> None:
    draws = draw(world, 12, seed=3)

    said = replay(draws, limits)

    for run in range(12):
        first = _by_the_book(draws, run, limits)
        assert said.rolled_back[run] == first.get("roll_back", NEVER)
        assert said.promoted[run] == first.get("promote", NEVER)
        assert said.ramped[run] == first.get("ramp", NEVER)
        assert said.blocked[run] == first.get("blocked", NEVER)


def test_replay__a_split_that_is_wrong__blocks_as_judge_does() -> None:
    fair = draw(constant(0.98, 0.98, 140), 6, seed=4)
    draws = Draws(fair.world, fair.arms * np.float32(0.4), fair.luck)
    limits = Limits(min_look=10**6)

    said = replay(draws, limits)

    assert (said.blocked < NEVER).any()
    assert [said.blocked[run] for run in range(6)] == [
        _by_the_book(draws, run, limits).get("blocked", NEVER) for run in range(6)
    ]


def test_replay_together__a_family__decides_as_judge_does() -> None:
    size, tasks, rates, limits = 5, 60, (0.1, 0.8), Limits()
    harmful = np.arange(size) < 3
    said = replay_together(1, harmful, rates, tasks, limits, seed=8)

    rng = np.random.default_rng(8)
    canaries, over = [Slow(limits) for _canary in range(size)], dict[int, str]()
    steps = set()
    for turn in list(range(size)) * tasks:
        if turn in over:
            continue
        canary = canaries[turn]
        with_rule = bool(rng.random(1)[0] < canary.share)
        failed = bool(rng.random(1)[0] < rates[1 if with_rule and harmful[turn] else 0])
        canary.expose(with_rule)
        canary.end(canary.stage, with_rule, failed)
        others = [other for other in range(size) if other != turn and other not in over]
        harm = tuple(harm_log_e(canaries[other].stages()) for other in others)
        step = canary.judged(live=len(others) + 1, other_harm=harm)
        steps.add(step)
        if step in {"roll_back", "promote"}:
            over[turn] = step

    assert {"ramp", "brake", "roll_back"} <= steps
    assert [over.get(turn) == "roll_back" for turn in range(size)] == said.rolled_back[0].tolist()
    assert [over.get(turn) == "promote" for turn in range(size)] == said.promoted[0].tolist()


def test_draws__the_same_seed__are_the_same() -> None:
    one, other = (draw(constant(0.9, 0.5, 30, late=True), 4, seed=9) for _time in range(2))

    assert (one.luck == other.luck).all()
    assert (one.arms == other.arms).all()
    assert [list(piece.luck[:, 0]) for piece in one.pieces(3)] == [
        list(other.luck[:3, 0]),
        list(other.luck[3:, 0]),
    ]


def test_peers__a_rule_that_mostly_fails__is_called_harmful() -> None:
    arms = Arms.of(draw(constant(0.9, 0.2, 600), 20, seed=2), 0.5)

    for peer in (confidence_sequence, repeated_z_test, chance_to_win):
        called = peer(arms)
        assert (called.harm < NEVER).all()
        assert (called.benefit == NEVER).all()


@pytest.mark.parametrize(("control_failed", "is_harm"), [(10, True), (11, False)])
def test_peers__the_sequence__is_that_of_the_published_formulas(control_failed: int, is_harm: bool) -> None:
    """100 tasks in each arm, 40 failures against 10 or 11: just outside and just inside the half-width.

    By hand for 10: rho^2 = (5.99 + ln 6.99) / 5,000 = 0.00159, error 0.0578, half-width 0.295 < 0.30.
    """
    n = np.full((1, 1), 100)

    called = confidence_sequence(Arms(n, n, np.full((1, 1), 40), np.full((1, 1), control_failed)))

    assert (called.harm[0] < NEVER) == is_harm


def test_checks__small_sizes__give_rows_of_shares() -> None:
    rows = [
        guarded(("apart", (0.1, 0.2, 0.3, 0.4), 0.5), runs=8),
        guarded(("failing", (), 0.1), runs=8),
        missed((constant(0.9, 0.5, 350), 0.5), runs=8),
    ]

    assert [row[:2] for row in rows] == [["apart", 0.5], ["failing", 0.1], ["0.90 to 0.50", 0.5]]
    assert rows[1][2] == rows[1][3]
    assert 0.0 < rows[2][3] < 1.0
