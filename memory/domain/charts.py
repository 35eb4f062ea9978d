"""Geometry of line and bar charts: scales, ticks, polylines. Pure arithmetic; a template draws the numbers.

A chart is drawn in its own coordinates (y grows downwards) as SVG with ``viewBox``; what has no value
leaves a gap in its line.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil, floor, isfinite, log10

WIDTH, HEIGHT = 760, 240
LEFT, RIGHT, TOP, BASE = 48, 736, 14, 208
"""The drawing area inside ``WIDTH`` x ``HEIGHT``: room for labels on the left and below."""
TICKS = 5


@dataclass(frozen=True)
class Scale:
    """Maps ``low`` .. ``high`` onto ``start`` .. ``end`` in a straight line; what lies outside is clamped.

    With ``low == high`` everything is in the middle.
    """

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Where ``value`` is drawn, to a tenth of a unit."""
        if self.high == self.low:
            return round((self.start + self.end) / 2, 1)
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)


@dataclass(frozen=True)
class Tick:
    """A mark on an axis: where it is drawn and what stands beside it."""

    at: float
    label: str


@dataclass(frozen=True)
class Line:
    """One series: ``segments`` are the ``points`` of its polylines, one for each unbroken run.

    ``dots`` are its single points, in order, without the gaps.
    """

    segments: list[str]
    dots: list[tuple[float, float]]


def x_scale(low: float, high: float) -> Scale:
    """From left to right."""
    return Scale(low, high, LEFT, RIGHT)


def y_scale(low: float, high: float) -> Scale:
    """From the base upwards."""
    return Scale(low, high, BASE, TOP)


def nice_step(span: float, most: int = TICKS) -> float:
    """The smallest 1, 2 or 5 times a power of ten that cuts ``span`` into at most ``most`` parts."""
    if span <= 0 or not isfinite(span):
        return 1.0
    rough = span / max(most, 1)
    power: float = 10.0 ** floor(log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))


def nice_bounds(values: Iterable[float], *, most: int = TICKS) -> tuple[float, float]:
    """Round numbers around all ``values`` (and no wider than needed); 0 and 1 without any."""
    known = [value for value in values if isfinite(value)]
    if not known:
        return 0.0, 1.0
    low, high = min(known), max(known)
    step = nice_step(high - low, most) if high > low else nice_step(abs(high) or 1.0, 1)
    low, high = floor(low / step + 1e-9) * step, ceil(high / step - 1e-9) * step
    return (low, high) if high > low else (low, low + step)


def ticks(scale: Scale, *, most: int = TICKS, unit: str = "", factor: float = 1.0) -> list[Tick]:
    """Marks at round numbers inside a scale. Labels show ``value * factor`` and ``unit``."""
    step = nice_step(scale.high - scale.low, most)
    first, last = ceil(scale.low / step - 1e-9), floor(scale.high / step + 1e-9)
    return [
        Tick(scale.at(index * step), label_of(index * step * factor, unit))
        for index in range(first, last + 1)
    ]


def log_ticks(scale: Scale, *, most: int = TICKS, unit: str = "") -> list[Tick]:
    """Marks at whole powers of ten, for a scale over log10 values.

    The labels show the powers' values; from a million on the power itself, which fits beside any axis.
    """
    every = max(1, round(nice_step(scale.high - scale.low, most)))
    exponents = range(ceil(scale.low), floor(scale.high) + 1)
    return [
        Tick(scale.at(exponent), _power_of_ten(exponent, unit))
        for exponent in exponents
        if exponent % every == 0
    ]


def _power_of_ten(exponent: int, unit: str) -> str:
    return label_of(10.0**exponent, unit) if exponent < 6 else f"10^{exponent} {unit}".rstrip()


def time_ticks(scale: Scale, start: datetime, end: datetime, *, most: int = TICKS) -> list[Tick]:
    """Marks from ``start`` to ``end``, evenly, for a scale over seconds since ``start``.

    Less than two days show the time of day; more show the day.
    """
    span = (end - start).total_seconds()
    shown = "%H:%M" if span < 2 * 86_400 else "%m-%d"
    steps = [index * span / most for index in range(most + 1)] if span > 0 else [0.0]
    marks = [Tick(scale.at(step), (start + timedelta(seconds=step)).strftime(shown)) for step in steps]
    return [mark for index, mark in enumerate(marks) if not index or mark.label != marks[index - 1].label]


def label_of(value: float, unit: str = "") -> str:
    """A number as an axis shows it: at most three digits after the point, thousands grouped."""
    rounded = round(value, 3)
    text = f"{rounded:,.0f}" if rounded == int(rounded) else f"{rounded:,.3f}".rstrip("0")
    return f"{text} {unit}" if unit else text


def draw_line(points: Sequence[tuple[float, float | None]], x: Scale, y: Scale) -> Line:
    """A series of (x, y) values in drawing coordinates; a y of None breaks the line."""
    runs: list[list[tuple[float, float]]] = [[]]
    for across, up in points:
        if up is None:
            runs.append([])
        else:
            runs[-1].append((x.at(across), y.at(up)))
    segments = [" ".join(f"{left},{top}" for left, top in run) for run in runs if len(run) > 1]
    return Line(segments, [dot for run in runs for dot in run])


def draw_band(points: Sequence[tuple[float, float, float]], x: Scale, y: Scale) -> str:
    """The ``points`` of a polygon between a lower and an upper value at each x: ``(x, lower, upper)``."""
    there = [(x.at(across), y.at(upper)) for across, _, upper in points]
    back = [(x.at(across), y.at(lower)) for across, lower, _ in reversed(points)]
    return " ".join(f"{left},{top}" for left, top in [*there, *back])
