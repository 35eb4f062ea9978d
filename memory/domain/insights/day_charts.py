"""Lines over days, ready to be drawn as SVG. Pure geometry over :mod:`memory.domain.charts`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from math import floor, log10

from memory.domain.charts import (
    BASE,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Line,
    Tick,
    draw_line,
    log_ticks,
    nice_bounds,
    ticks,
    time_ticks,
    x_scale,
    y_scale,
)

STYLES = ("one", "two", "three")
"""The looks of the lines, in order: colour, dash and the mark of the points differ."""


@dataclass(frozen=True)
class Series:
    """One line: its name and a value for each day, None where there is none."""

    name: str
    values: Sequence[float | None]


@dataclass(frozen=True)
class Drawn:
    """A line as it is drawn."""

    name: str
    style: str
    line: Line


@dataclass(frozen=True)
class DayChart:
    """Axes with their ticks, and the lines, in the coordinates of ``width`` x ``height``."""

    x_ticks: list[Tick]
    y_ticks: list[Tick]
    lines: list[Drawn]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = RIGHT
    top: int = TOP
    base: int = BASE


def draw_days(
    days: Sequence[date],
    series: Sequence[Series],
    *,
    unit: str = "",
    factor: float = 1.0,
    is_log: bool = False,
) -> DayChart | None:
    """The lines over ``days``; None where no line has a value. Labels show ``value * factor`` and ``unit``.

    With ``is_log`` the values (all above zero) are drawn on a logarithmic axis.
    """
    known = [value for item in series for value in item.values if value is not None]
    if not known or not days:
        return None
    across = x_scale(0, max(len(days) - 1, 1))
    if is_log:
        up = y_scale(floor(log10(min(known))), floor(log10(max(known))) + 1)
        marks = log_ticks(up, unit=unit)
    else:
        up = y_scale(0.0, nice_bounds([0.0, *known])[1])
        marks = ticks(up, unit=unit, factor=factor)
    lines = [
        Drawn(item.name, STYLES[place % len(STYLES)], draw_line(_points(item, is_log=is_log), across, up))
        for place, item in enumerate(series)
    ]
    return DayChart(_day_ticks(days), marks, lines)


def _points(item: Series, *, is_log: bool) -> list[tuple[float, float | None]]:
    return [
        (place, log10(value) if is_log and value is not None else value)
        for place, value in enumerate(item.values)
    ]


def _day_ticks(days: Sequence[date]) -> list[Tick]:
    start, end = (datetime.combine(day, time(), UTC) for day in (days[0], days[-1]))
    scale = x_scale(0, max((end - start).total_seconds(), 86_400.0))
    if len(days) > 2:
        return time_ticks(scale, start, end)
    return [Tick(scale.at(index * 86_400.0), day.strftime("%m-%d")) for index, day in enumerate(days)]
