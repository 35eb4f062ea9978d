"""Worlds of the canary simulation: which tasks fail, in which arm, and when that is known."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class World:
    """Failure rates of every task without and with the rule (0 to 1, one for each task in order).

    ``late`` says that ends are known some tasks after the exposure, failures later than successes.
    """

    name: str
    control: Floats
    canary: Floats
    late: bool = False

    @property
    def tasks(self) -> int:
        """How many tasks are exposed."""
        return len(self.control)


@dataclass(frozen=True)
class Draws:
    """Luck of many runs of a world: uniform numbers (runs x tasks) for the arm and for the end of a task.

    A task fails if ``luck`` is below its arm's rate, so a run meets the same tasks whatever the share is.
    ``delays`` are (after a success, after a failure) in tasks, the same for all runs.
    """

    world: World
    arms: NDArray[np.float32]
    luck: NDArray[np.float32]
    delays: tuple[NDArray[np.int64], NDArray[np.int64]] | None = field(default=None)

    def pieces(self, runs: int) -> Iterator["Draws"]:
        """The same, some runs at a time."""
        for start in range(0, len(self.arms), runs):
            chosen = slice(start, start + runs)
            yield Draws(self.world, self.arms[chosen], self.luck[chosen], self.delays)

    def in_canary(self, share: float) -> NDArray[np.bool_]:
        """Which tasks have the rule at a fixed share."""
        return self.arms < share

    def failed(self, in_canary: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which tasks fail, given their arms."""
        return self.luck < np.where(in_canary, self.world.canary, self.world.control)


def constant(control: float, canary: float, tasks: int, *, late: bool = False) -> World:
    """Success rates that stay what they are."""
    name = f"{control:.2f}" if control == canary else f"{control:.2f} to {canary:.2f}"
    rates = np.full(tasks, 1.0 - control), np.full(tasks, 1.0 - canary)
    return World(name + (", late" if late else ""), *rates, late=late)


def slow_drift(first: float, last: float, tasks: int) -> World:
    """No effect, while the success rate of both arms moves evenly."""
    rates = np.linspace(1.0 - first, 1.0 - last, tasks)
    return World(f"{first:.2f} slowly to {last:.2f}", rates, rates)


def sudden_drift(first: float, second: float, tasks: int) -> World:
    """No effect, while the success rate of both arms jumps to and fro, four times."""
    rates = np.where(np.arange(tasks) * 5 // tasks % 2 == 0, 1.0 - first, 1.0 - second)
    return World(f"{first:.2f} and {second:.2f} in turn", rates, rates)


def draw(world: World, runs: int, seed: int) -> Draws:
    """The luck of ``runs`` runs, the same for the same seed."""
    rng = np.random.default_rng(seed)
    shape = (runs, world.tasks)
    delays = None
    if world.late:
        delays = rng.geometric(1 / 10, world.tasks), rng.geometric(1 / 50, world.tasks)
    arms, luck = rng.random(shape, dtype=np.float32), rng.random(shape, dtype=np.float32)
    return Draws(world, arms, luck, delays)
