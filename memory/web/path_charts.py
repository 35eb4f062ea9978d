"""A path's reward over time and what came of following it, as a chart and as rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory.models import PathUse, RewardChange, Task

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BASE = 720, 170, 40, 700, 16, 130
MARK_Y = 150


@dataclass(frozen=True)
class Moment:
    """The reward changed (``use`` is None), or a task followed the path (``change`` is None)."""

    at: datetime
    x: float
    y: float
    change: RewardChange | None = None
    use: PathUse | None = None

    @property
    def task(self) -> Task | None:
        """The task it was about, when it is known."""
        row: Any = self.change or self.use
        return row.task if row else None


@dataclass(frozen=True)
class RewardChart:
    """``line`` is the reward as SVG points, in steps; ``moments`` in the order of time."""

    moments: list[Moment]
    line: str
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = RIGHT
    top: int = TOP
    base: int = BASE
    mark_y: int = MARK_Y


def reward_chart(reward: float, changes: Sequence[RewardChange], uses: Sequence[PathUse]) -> RewardChart:
    """Both histories on one axis of events, the reward (0 to 1) as a line in steps.

    ``reward`` is what it is now: the whole line, when it never changed.
    """
    events: list[tuple[datetime, RewardChange | PathUse]] = [
        (change.changed_at, change) for change in changes
    ]
    events = sorted(events + [(use.used_at, use) for use in uses], key=lambda event: event[0])
    value = changes[0].old if changes else reward
    step = (RIGHT - LEFT) / (len(events) + 1)
    points, moments = [(float(LEFT), _y(value))], []
    for number, (at, row) in enumerate(events, start=1):
        x = round(LEFT + number * step, 1)
        if isinstance(row, RewardChange):
            points += [(x, _y(value)), (x, _y(row.new))]
            value = row.new
            moments.append(Moment(at, x, _y(value), change=row))
        else:
            moments.append(Moment(at, x, float(MARK_Y), use=row))
    points.append((float(RIGHT), _y(value)))
    return RewardChart(moments, " ".join(f"{x:g},{y:g}" for x, y in points))


def _y(reward: float) -> float:
    return round(BASE - reward * (BASE - TOP), 1)
