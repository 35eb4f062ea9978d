"""How often canaries are judged wrongly, and how many tasks a right verdict takes, beside others' rules.

    python -m benchmarks.canary_sim [--runs 2000] [--tasks 2000] [--json FILE]

Simulated tasks, judged after every one of them; seeded, so the figures come again. Protocol:
docs/benchmarks/canary_sim.md.
"""

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.canary_sim_checks import (
    COVERED_TASKS,
    GUARDED,
    HARMED,
    TOGETHER,
    TOGETHER_TASKS,
    guarded,
    intervals,
    missed,
    together,
)
from benchmarks.canary_sim_peers import Arms, Verdicts, chance_to_win, confidence_sequence, repeated_z_test
from benchmarks.canary_sim_replay import NEVER, Ints, replay
from benchmarks.canary_sim_worlds import Draws, World, constant, draw, slow_drift, sudden_drift
from benchmarks.report import Report, parse_arguments
from corrections.domain.effect import Limits

ALPHA = 0.05
SEQUENCE = "sequence N*=5000"
PEERS = {SEQUENCE: confidence_sequence, "z-test": repeated_z_test, "Flagsmith": chance_to_win}
DESIGNS = {
    "10 %": Limits(first_share=0.10, full_share=0.10),
    "50 %": Limits(first_share=0.50, full_share=0.50),
    "10 to 50 %": Limits(),
}
HELPED = "0.80 to 0.95"
CHUNK = 500
"""Runs of which the peers' running counts are kept at once."""


@dataclass(frozen=True)
class Called:
    """Tasks at which harm and benefit were called, and in which share of the runs the split was doubted."""

    harm: Ints
    benefit: Ints
    blocked: float | None = None

    @property
    def either(self) -> float:
        """Share of the runs in which something was called."""
        return float((np.minimum(self.harm, self.benefit) < NEVER).mean())


Row = tuple[str, str, dict[str, Called]]


def main() -> int:
    """Run everything and return the exit code."""
    arguments = parse_arguments("False verdicts and tasks to a verdict of canaries.", _add_arguments)
    report = Report("canary_sim", arguments)
    tasks, runs = arguments.tasks, arguments.runs
    without, effects = no_effect(tasks), with_effect(tasks)
    with ProcessPoolExecutor(arguments.workers) as pool:
        rows = _simulated(report, pool, [*without, *effects], runs)
        families = list(pool.map(together, ((0.95, 0), (0.50, 0), (0.95, 5), (0.95, 25))))
        guards = list(pool.map(partial(guarded, runs=runs), GUARDED))
        misses = list(pool.map(partial(missed, runs=runs), intervals()))
    known = {world.name for world in without}
    _tell_false(report, [row for row in rows if row[0] in known])
    _tell_effects(report, [row for row in rows if row[0] not in known], tasks)
    _tell_together(report, families)
    _tell_intervals(report, misses)
    _tell_guarded(report, guards)
    return report.finish()


def no_effect(tasks: int) -> list[World]:
    """Worlds in which the rule changes nothing."""
    return [
        *(constant(rate, rate, tasks) for rate in (0.50, 0.80, 0.95, 0.99)),
        slow_drift(0.95, 0.50, tasks),
        sudden_drift(0.98, 0.50, tasks),
        *(constant(rate, rate, tasks, late=True) for rate in (0.80, 0.95)),
    ]


def with_effect(tasks: int) -> list[World]:
    """Worlds in which it does."""
    return [
        constant(control, canary, tasks) for control, canary in ((0.95, 0.70), (0.80, 0.50), (0.80, 0.95))
    ]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, default=2_000, help="runs of each world")
    parser.add_argument("--tasks", type=int, default=2_000, help="tasks of a run")
    parser.add_argument("--workers", type=int, default=2, help="processes")


def _simulated(report: Report, pool: ProcessPoolExecutor, worlds: Sequence[World], runs: int) -> list[Row]:
    jobs = [(world, seed) for seed, world in enumerate(worlds, start=1)]
    rows: list[Row] = []
    with report.progress("worlds", total=len(jobs)) as advance:
        for found in pool.map(partial(_world, runs=runs), jobs):
            rows.extend(found)
            advance(1)
    return rows


def _world(job: tuple[World, int], *, runs: int) -> list[Row]:
    """Every design of one world."""
    world, seed = job
    draws = draw(world, runs, seed)
    return [(world.name, design, _design(draws, limits)) for design, limits in DESIGNS.items()]


def _design(draws: Draws, limits: Limits) -> dict[str, Called]:
    said = replay(draws, limits)
    blocked = float((said.blocked < NEVER).mean())
    found = {"HGMem": Called(said.rolled_back, said.promoted, blocked)}
    if limits.first_share != limits.full_share or draws.world.late:
        return found
    pieces = [Arms.of(piece, limits.first_share) for piece in draws.pieces(CHUNK)]
    return found | {name: _joined([_called(peer(piece)) for piece in pieces]) for name, peer in PEERS.items()}


def _called(verdicts: Verdicts) -> Called:
    """A run ends with its first verdict."""
    return Called(
        np.where(verdicts.harm <= verdicts.benefit, verdicts.harm, NEVER),
        np.where(verdicts.benefit < verdicts.harm, verdicts.benefit, NEVER),
    )


def _joined(pieces: Sequence[Called]) -> Called:
    return Called(
        np.concatenate([piece.harm for piece in pieces]), np.concatenate([piece.benefit for piece in pieces])
    )


def _tell_false(report: Report, rows: Sequence[Row]) -> None:
    """False verdicts: called harmful / called helpful, in percent of the runs."""
    names = ["HGMem", *PEERS]
    table = []
    for world, design, called in rows:
        cells = [_false(called[name]) if name in called else "-" for name in names]
        table.append([world, design, *cells, f"{100 * (called['HGMem'].blocked or 0.0):.1f}"])
    columns = ["success rate", "share", *names, "split doubted"]
    report.table("No effect: called harmful / helpful, % of runs", columns, table)
    own = [called["HGMem"] for _world, _design, called in rows]
    harm, benefit = (
        max(float((side < NEVER).mean()) for side in sides)
        for sides in ([called.harm for called in own], [called.benefit for called in own])
    )
    worst = {
        name: max(called[name].either for _world, _design, called in rows if name in called) for name in names
    }
    report.figure("worst_false_verdict", dict(worst))
    report.goal("false roll backs, worst world", measured=harm, limit=ALPHA)
    report.goal("false promotions, worst world", measured=benefit, limit=ALPHA)
    report.goal(
        "any false verdict, worst world, against the best peer's",
        measured=worst.pop("HGMem"),
        limit=min(worst.values()),
    )


def _false(called: Called) -> str:
    harm, benefit = (called.harm < NEVER).mean(), (called.benefit < NEVER).mean()
    return f"{100 * harm:.1f} / {100 * benefit:.1f}"


def _tell_effects(report: Report, rows: Sequence[Row], tasks: int) -> None:
    """Tasks to the right verdict: median, 90th percentile, found within the tasks of a run."""
    names = ["HGMem", *PEERS]
    table = [
        [world, design, *(_took(called[name], world, tasks) if name in called else "-" for name in names)]
        for world, design, called in rows
    ]
    columns = ["success rate", "share", *names]
    report.table(f"Tasks to the right verdict: median / 90th percentile (found in {tasks:,})", columns, table)
    called = next(row[2] for row in rows if row[0] == "0.95 to 0.70" and row[1] == "10 %")
    own, sequence = (float(min(_quantiles(called[name].harm)[0], tasks)) for name in ("HGMem", SEQUENCE))
    report.goal(".95 to .70 at 10 %, half the sequence's median tasks", measured=own, limit=sequence / 2)


def _took(called: Called, world: str, tasks: int) -> str:
    right = called.benefit if world == HELPED else called.harm
    found = float((right < NEVER).mean())
    shown = [f"{int(at):,}" if at < NEVER else f"> {tasks:,}" for at in _quantiles(right)]
    return f"{shown[0]} / {shown[1]} ({100 * found:.1f} %)"


def _quantiles(times: Ints) -> tuple[int, int]:
    ordered = np.sort(times)
    return int(ordered[(len(ordered) - 1) // 2]), int(ordered[int(np.ceil(0.9 * len(ordered))) - 1])


def _tell_together(report: Report, rows: Sequence[list[Any]]) -> None:
    shown = [["-" if cell is None else cell for cell in row] for row in rows]
    report.table(
        f"{TOGETHER} canaries at once, {TOGETHER_TASKS} tasks each; harmful ones go to {HARMED:.2f}",
        [
            "success rate",
            "harmful ones",
            "any false roll back",
            "false among rolled back",
            "harmful found",
            "promoted",
        ],
        shown,
    )
    report.goal(
        "50 at once without an effect, any false roll back", measured=max(rows[0][2], rows[1][2]), limit=ALPHA
    )
    report.goal("50 at once, false among rolled back", measured=max(row[3] for row in rows), limit=ALPHA)


def _tell_intervals(report: Report, rows: Sequence[list[Any]]) -> None:
    columns = ["success rate", "share", "ever missed", "width after 300 tasks"]
    report.table(f"The interval of the uplift, checked after each of {COVERED_TASKS:,} tasks", columns, rows)
    report.goal("interval ever missed, worst world", measured=max(row[2] for row in rows), limit=ALPHA)


def _tell_guarded(report: Report, rows: Sequence[list[Any]]) -> None:
    columns = ["guardrails", "share", "broken, %", "harm or broken, %"]
    report.table(f"No effect on four guardrails, {COVERED_TASKS:,} tasks", columns, rows)
    report.goal("false roll backs for guardrails", measured=max(row[2] for row in rows) / 100, limit=ALPHA)


if __name__ == "__main__":
    sys.exit(main())
