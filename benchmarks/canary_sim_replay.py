"""Many canaries at once, each judged after every task, as ``corrections.domain.effect.judge`` judges one.

What judge reads for harm and benefit is looked up in tables that ``log_e`` of the product fills; a test
replays the same runs through judge itself and finds the same decisions. Guardrails are left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.canary_sim_worlds import Draws
from corrections.domain.effect import Limits, log_e
from corrections.domain.effect.ratio import MIN_EXPOSED

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

NEVER = np.iinfo(np.int64).max
STAGES = 8


@dataclass
class Decisions:
    """For each run the number of exposed tasks at which something was decided, ``NEVER`` if it was not."""

    rolled_back: Ints
    promoted: Ints
    ramped: Ints
    blocked: Ints


class Table:
    """log E for harm and for benefit at one share, for all counts met so far; it grows as they do."""

    def __init__(self, share: float) -> None:
        self.share = share
        self._size = (0, 0)
        self._harm = self._benefit = np.zeros((0, 0))

    def look_up(self, canary_failed: Ints, control_failed: Ints) -> tuple[Floats, Floats]:
        """(harm, benefit) for each pair of counts."""
        needed = int(canary_failed.max(initial=0)), int(control_failed.max(initial=0))
        if needed[0] >= self._size[0] or needed[1] >= self._size[1]:
            self._size = max(needed[0] + 16, self._size[0]), max(needed[1] + 16, self._size[1])
            failed, without = np.arange(self._size[0])[:, None], np.arange(self._size[1])[None, :]
            self._harm = log_e(failed, without, self.share)
            self._benefit = log_e(without, failed, 1.0 - self.share)
        return self._harm[canary_failed, control_failed], self._benefit[canary_failed, control_failed]


class Fleet:
    """The counts of many canaries (one for each run), stage by stage; even stages have the first share."""

    def __init__(self, size: int, limits: Limits) -> None:
        self.limits = limits
        self.tables = Table(limits.first_share), Table(limits.full_share)
        self.stage = np.zeros(size, np.int64)
        self.failed = np.zeros((size, STAGES, 2), np.int64)
        self.harm = np.zeros((size, STAGES))
        self.benefit = np.zeros((size, STAGES))
        self.decided = np.zeros(size, np.int64)
        self.had_rule = np.zeros(size, bool)
        self.exposed = np.zeros(size, np.int64)
        self.surplus = np.zeros(size)
        self.variance = np.zeros(size)

    def shares(self, rows: Ints) -> Floats:
        """The present share of these canaries."""
        even = self.stage[rows] % 2 == 0
        return np.asarray(np.where(even, self.limits.first_share, self.limits.full_share))

    def expose(self, rows: Ints, in_canary: NDArray[np.bool_]) -> None:
        """One more task each met the condition."""
        share = self.shares(rows)
        self.exposed[rows] += 1
        self.surplus[rows] += in_canary - share
        self.variance[rows] += share * (1.0 - share)

    def decide(
        self, rows: Ints, stage: Ints, in_canary: NDArray[np.bool_], failed: NDArray[np.bool_]
    ) -> None:
        """One task each, exposed in ``stage``, has ended."""
        self.decided[rows] += 1
        self.had_rule[rows] |= in_canary
        rows, stage, in_canary = rows[failed], stage[failed], in_canary[failed]
        self.failed[rows, stage, np.where(in_canary, 0, 1)] += 1
        for parity, table in enumerate(self.tables):
            chosen = stage % 2 == parity
            row, at = rows[chosen], stage[chosen]
            counts = self.failed[row, at]
            self.harm[row, at], self.benefit[row, at] = table.look_up(counts[:, 0], counts[:, 1])

    def is_mismatch(self, rows: Ints) -> NDArray[np.bool_]:
        """The split is not the one asked for; |z| > 3.29 is p < 0.001."""
        far = np.abs(self.surplus[rows]) > 3.2905267314918945 * np.sqrt(self.variance[rows])
        return far & (self.exposed[rows] >= MIN_EXPOSED)

    def ramp(self, rows: Ints, free: NDArray[np.bool_]) -> Ints:
        """Move to the full share those that may; gives them back."""
        quiet = self.harm[rows].sum(1) < np.log(self.limits.quiet_e)
        ready = self.had_rule[rows] & (self.decided[rows] >= self.limits.min_look)
        below = self.shares(rows) < self.limits.full_share
        chosen: Ints = rows[free & quiet & ready & below]
        self.stage[chosen] += 1
        return chosen

    def brake(self, rows: Ints) -> None:
        """Move to the first share."""
        self.stage[rows] += 1


def replay(draws: Draws, limits: Limits) -> Decisions:
    """Every run by itself, one live canary, judged after every task until a verdict."""
    runs, tasks = draws.arms.shape
    fleet, said = Fleet(runs, limits), _nothing(runs)
    in_canary, failed = np.zeros((runs, tasks), bool), np.zeros((runs, tasks), bool)
    stage = np.zeros((runs, tasks), np.int8)
    live = np.arange(runs)
    ends = _ends(draws)
    for task in range(tasks):
        arm = draws.arms[live, task] < fleet.shares(live)
        rate = np.where(arm, draws.world.canary[task], draws.world.control[task])
        in_canary[live, task], failed[live, task] = arm, draws.luck[live, task] < rate
        stage[live, task] = fleet.stage[live]
        fleet.expose(live, arm)
        for ended, ends_badly in ends[task]:
            rows = live if ends_badly is None else live[failed[live, ended] == ends_badly]
            fleet.decide(
                rows, stage[rows, ended].astype(np.int64), in_canary[rows, ended], failed[rows, ended]
            )
        live = _judged(fleet, said, live, task + 1)
        if not len(live):
            break
    return said


def _judged(fleet: Fleet, said: Decisions, live: Ints, now: int) -> Ints:
    """Carry out what judge would say; gives back those that go on."""
    blocked = fleet.is_mismatch(live)
    _first(said.blocked, live[blocked], now)
    harmful = ~blocked & (fleet.harm[live].sum(1) >= -np.log(fleet.limits.alpha))
    helpful = ~blocked & ~harmful & (fleet.benefit[live].sum(1) >= -np.log(fleet.limits.alpha))
    _first(said.rolled_back, live[harmful], now)
    _first(said.promoted, live[helpful], now)
    free = ~(blocked | harmful | helpful)
    _first(said.ramped, fleet.ramp(live, free), now)
    remaining: Ints = live[~(harmful | helpful)]
    return remaining


def _first(times: Ints, rows: Ints, now: int) -> None:
    times[rows] = np.minimum(times[rows], now)


def _nothing(size: int) -> Decisions:
    return Decisions(*(np.full(size, NEVER) for _column in range(4)))


def _ends(draws: Draws) -> list[list[tuple[int, bool | None]]]:
    """For each moment the tasks whose end becomes known: those that failed, those that did not, or any."""
    tasks = draws.world.tasks
    if draws.delays is None:
        return [[(task, None)] for task in range(tasks)]
    ends: list[list[tuple[int, bool | None]]] = [[] for _task in range(tasks)]
    for ends_badly, delay in zip((False, True), draws.delays, strict=True):
        for task in range(tasks):
            if task + delay[task] < tasks:
                ends[task + int(delay[task])].append((task, ends_badly))
    return ends


@dataclass
class Family:
    """Groups of canaries that run at the same time: which were rolled back, and which of them are harmful."""

    rolled_back: NDArray[np.bool_]
    promoted: NDArray[np.bool_]
    harmful: NDArray[np.bool_]

    def any_false(self) -> float:
        """Share of the groups in which a canary without an effect was rolled back."""
        return float((self.rolled_back & ~self.harmful).any(1).mean())

    def false_discoveries(self) -> float:
        """Mean over the groups of the false ones among the rolled back."""
        false = (self.rolled_back & ~self.harmful).sum(1)
        return float((false / np.maximum(self.rolled_back.sum(1), 1)).mean())

    def found(self) -> float:
        """Share of the harmful canaries that were rolled back."""
        return float(self.rolled_back[self.harmful].mean())


def replay_together(
    groups: int, harmful: NDArray[np.bool_], rates: tuple[float, float], tasks: int, limits: Limits, seed: int
) -> Family:
    """Groups of canaries; each in turn has a task and is judged, all live ones counted in.

    ``harmful`` says which of a group fail at the second rate instead of the first; ``tasks`` are for each.
    """
    rng = np.random.default_rng(seed)
    size = len(harmful)
    fleet = Fleet(groups * size, limits)
    rolled_back, promoted = np.zeros((groups, size), bool), np.zeros((groups, size), bool)
    for turn in _turns(size, tasks):
        group = np.flatnonzero(~(rolled_back | promoted)[:, turn])
        rows = group * size + turn
        arm = rng.random(len(rows)) < fleet.shares(rows)
        failed = rng.random(len(rows)) < np.where(arm & harmful[turn], rates[1], rates[0])
        fleet.expose(rows, arm)
        fleet.decide(rows, fleet.stage[rows], arm, failed)
        live = ~(rolled_back | promoted)
        _judged_together(fleet, group, turn, live, rolled_back, promoted)
    return Family(rolled_back, promoted, np.broadcast_to(harmful, rolled_back.shape))


def _judged_together(
    fleet: Fleet,
    group: Ints,
    turn: int,
    live: NDArray[np.bool_],
    rolled_back: NDArray[np.bool_],
    promoted: NDArray[np.bool_],
) -> None:
    size = live.shape[1]
    rows = group * size + turn
    bound = -np.log(fleet.limits.alpha)
    blocked = fleet.is_mismatch(rows)
    suspect = ~blocked & (fleet.harm[rows].sum(1) >= bound)
    rejected = suspect.copy()
    if suspect.any():
        chosen = group[suspect]
        harm = fleet.harm.sum(1).reshape(-1, size)[chosen]
        rejected[suspect] = harm[:, turn] >= _e_bh_bound(np.where(live[chosen], harm, -np.inf), bound)
    rolled_back[group[rejected], turn] = True
    above = fleet.shares(rows) > fleet.limits.first_share
    fleet.brake(rows[suspect & ~rejected & above])
    helpful = fleet.benefit[rows].sum(1) >= bound + np.log(live[group].sum(1))
    promoted[group[helpful & ~blocked & ~suspect], turn] = True
    fleet.ramp(rows, ~(blocked | suspect | helpful))


def _e_bh_bound(harm: Floats, bound: float) -> Floats:
    """For each group the smallest log E that e-BH rejects; infinite if none is."""
    ordered = -np.sort(-harm, axis=1)
    many = np.log(np.maximum(np.isfinite(harm).sum(1), 1))[:, None]
    passing = ordered >= bound + many - np.log(np.arange(1, harm.shape[1] + 1))[None, :]
    last = np.where(passing.any(1), harm.shape[1] - 1 - passing[:, ::-1].argmax(1), -1)
    return np.where(last >= 0, ordered[np.arange(len(harm)), last], np.inf)


def _turns(size: int, tasks: int) -> Iterator[int]:
    for _task in range(tasks):
        yield from range(size)
