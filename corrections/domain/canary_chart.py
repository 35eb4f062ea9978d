"""Evidence over time as a chart: harm and benefit on a log scale, thresholds, what was decided. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import log10

from corrections.domain.canary_figures import LN10, limits
from memory.domain.charts import (
    BASE,
    HEIGHT,
    TOP,
    WIDTH,
    Line,
    Scale,
    Tick,
    draw_line,
    log_ticks,
    time_ticks,
    x_scale,
    y_scale,
)

FLOOR = -2.0
"""E-values below 1 / 100 are drawn at the bottom: there is no evidence to tell apart."""
MARKS = 12


@dataclass(frozen=True)
class Look:
    """What one look saw: natural log E-values, None where there was nothing to test."""

    at: datetime
    harm: float | None
    benefit: float | None


@dataclass(frozen=True)
class Mark:
    """Something that was decided: ``number`` names it in the chart and in the list beside it."""

    at: datetime
    kind: str
    number: int = 0
    x: float = 0.0


@dataclass(frozen=True)
class EvidenceChart:
    """Everything a template needs, in drawing units. ``harm_at`` and ``benefit_at`` are the thresholds' y."""

    harm: Line
    benefit: Line
    harm_at: float
    benefit_at: float
    even_at: float
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    marks: list[Mark]
    width: int = WIDTH
    height: int = HEIGHT
    top: int = TOP
    base: int = BASE


def draw_evidence(
    looks: Sequence[Look], marks: Sequence[Mark], *, alpha: float, live: int
) -> EvidenceChart | None:
    """The chart of looks, oldest first; None with fewer than two. Times outside the looks are clamped."""
    if len(looks) < 2:
        return None
    start, end = looks[0].at, looks[-1].at
    across = x_scale(0, (end - start).total_seconds())
    harm_limit, benefit_limit = (log10(value) for value in limits(alpha, live))
    known = [value / LN10 for look in looks for value in (look.harm, look.benefit) if value is not None]
    up = y_scale(max(min([*known, -1.0]), FLOOR), max([*known, benefit_limit, harm_limit]) + 0.4)
    return EvidenceChart(
        harm=_line([(look.at, look.harm) for look in looks], start, across, up),
        benefit=_line([(look.at, look.benefit) for look in looks], start, across, up),
        harm_at=up.at(harm_limit),
        benefit_at=up.at(benefit_limit),
        even_at=up.at(0),
        x_ticks=time_ticks(across, start, end),
        y_ticks=log_ticks(up),
        marks=_placed(marks, start, across),
    )


def _line(points: Sequence[tuple[datetime, float | None]], start: datetime, x: Scale, y: Scale) -> Line:
    drawn = [((at - start).total_seconds(), None if log_e is None else log_e / LN10) for at, log_e in points]
    return draw_line(drawn, x, y)


def _placed(marks: Sequence[Mark], start: datetime, x: Scale) -> list[Mark]:
    """The newest marks, numbered as they stand in the list of events."""
    return [
        Mark(mark.at, mark.kind, mark.number, x.at((mark.at - start).total_seconds()))
        for mark in marks[-MARKS:]
    ]
