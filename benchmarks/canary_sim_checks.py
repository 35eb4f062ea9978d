"""Further checks of the canary simulation: families of canaries, guardrails, the interval of the uplift."""

from typing import Any

import numpy as np

from benchmarks.canary_sim_peers import Arms
from benchmarks.canary_sim_replay import Table, replay_together
from benchmarks.canary_sim_worlds import World, constant, draw, slow_drift, sudden_drift
from corrections.domain.effect import Limits, uplift_bounds

CHUNK = 500
TOGETHER = 50
GROUPS = 200
TOGETHER_TASKS = 300
HARMED = 0.70
COVERED_TASKS = 1_000
GUARDED = [
    (kind, rates, share)
    for kind, rates in (
        ("rare to frequent, apart", (0.01, 0.05, 0.10, 0.30)),
        ("all four the same", (0.10,)),
        ("the same as failing", ()),
    )
    for share in (0.10, 0.50)
]
"""How often each guardrail is broken; one of them stands for all four, none: what is counted is failing."""


def together(job: tuple[float, int]) -> list[Any]:
    """Fifty canaries at once, at a success rate, so many of them harmful."""
    rate, harmful = job
    chosen = np.arange(TOGETHER) < harmful
    failing = 1.0 - rate, 1.0 - HARMED
    family = replay_together(GROUPS, chosen, failing, TOGETHER_TASKS, Limits(), seed=1 + harmful)
    found = family.found() if harmful else None
    return [
        rate,
        harmful,
        family.any_false(),
        family.false_discoveries(),
        found,
        float(family.promoted.mean()),
    ]


def intervals() -> list[tuple[World, float]]:
    """Worlds and shares in which the interval is checked."""
    tasks = COVERED_TASKS
    worlds = [
        constant(0.50, 0.50, tasks),
        constant(0.95, 0.95, tasks),
        constant(0.95, 0.70, tasks),
        constant(0.80, 0.95, tasks),
        slow_drift(0.95, 0.50, tasks),
        sudden_drift(0.98, 0.50, tasks),
    ]
    return [(world, share) for world in worlds for share in (0.10, 0.50, 0.95)]


def missed(job: tuple[World, float], *, runs: int) -> list[Any]:
    """How often the interval ever missed the mean effect so far, and its mean width after 300 tasks."""
    world, share = job
    misses, widths = [], []
    for draws in draw(world, runs, 7).pieces(CHUNK):
        arms = Arms.of(draws, share)
        counts = np.stack([arms.canary_n, arms.canary_failed, arms.control_n, arms.control_failed], axis=-1)
        _estimate, lower, upper = uplift_bounds(counts[:, :, None, :])
        truth = (world.control - world.canary).cumsum() / np.arange(1, world.tasks + 1)
        misses.append(((lower > truth) | (upper < truth)).any(1))
        widths.append(upper[:, 299] - lower[:, 299])
    return [
        world.name,
        share,
        float(np.concatenate(misses).mean()),
        float(np.nanmean(np.concatenate(widths))),
    ]


def guarded(job: tuple[str, tuple[float, ...], float], *, runs: int) -> list[Any]:
    """How often, in %, four guardrails without an effect call for a roll back, and they or harm do."""
    kind, rates, share = job
    table, limit = Table(share), -np.log(Limits().alpha)
    broken, either = [], []
    for start in range(0, runs, CHUNK):
        size = min(CHUNK, runs - start)
        worlds = [constant(1.0 - rate, 1.0 - rate, COVERED_TASKS) for rate in (0.05, *rates)]
        draws = draw(worlds[0], size, 90 + start)
        luck = [draw(world, size, 91 + at + start).luck for at, world in enumerate(worlds[1:])]
        canary = draws.in_canary(share)
        evidence = [
            table.look_up((bad & canary).cumsum(1), (bad & ~canary).cumsum(1))[0]
            for bad in [draws.failed(canary), *(one < rate for one, rate in zip(luck, rates, strict=True))]
        ]
        guards = np.stack([*(evidence[1:] or evidence)] * (4 // max(len(rates), 1)))
        calls = np.logaddexp.reduce(guards, axis=0) - np.log(len(guards)) >= limit
        broken.append(calls.any(1))
        either.append(broken[-1] | (evidence[0] >= limit).any(1))
    return [kind, share, *(100 * float(np.concatenate(calls).mean()) for calls in (broken, either))]
