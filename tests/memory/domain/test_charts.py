"""Scales, ticks and lines of charts."""

from datetime import UTC, datetime, timedelta

import pytest

from memory.domain.charts import (
    BASE,
    LEFT,
    RIGHT,
    TOP,
    Scale,
    draw_band,
    draw_line,
    label_of,
    log_ticks,
    nice_bounds,
    nice_step,
    ticks,
    time_ticks,
    x_scale,
    y_scale,
)

START = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "drawn"),
    [
        pytest.param(0, 100.0, id="low"),
        pytest.param(10, 200.0, id="high"),
        pytest.param(2.5, 125.0, id="inside"),
        pytest.param(-5, 100.0, id="below-is-clamped"),
        pytest.param(50, 200.0, id="above-is-clamped"),
    ],
)
def test_scale__value__is_drawn_in_proportion(value: float, drawn: float) -> None:
    assert Scale(0, 10, 100, 200).at(value) == drawn


def test_scale__no_span__draws_in_the_middle() -> None:
    assert Scale(3, 3, 0, 10).at(3) == 5


def test_scales_of_a_chart__ends__are_the_drawing_area() -> None:
    assert (x_scale(0, 1).at(0), x_scale(0, 1).at(1)) == (LEFT, RIGHT)
    assert (y_scale(0, 1).at(0), y_scale(0, 1).at(1)) == (BASE, TOP)


@pytest.mark.parametrize(
    ("span", "step"),
    [
        pytest.param(10, 2, id="two"),
        pytest.param(5, 1, id="one"),
        pytest.param(0.3, 0.1, id="tenth"),
        pytest.param(21, 5, id="five"),
        pytest.param(0, 1, id="nothing"),
        pytest.param(float("inf"), 1, id="endless"),
    ],
)
def test_nice_step__span__is_round(span: float, step: float) -> None:
    assert nice_step(span) == pytest.approx(step)


@pytest.mark.parametrize(
    ("values", "bounds"),
    [
        pytest.param([], (0, 1), id="none"),
        pytest.param([3.2, 9.1], (2, 10), id="around"),
        pytest.param([0, 0], (0, 1), id="all-zero"),
        pytest.param([7, float("nan")], (0, 10), id="one-known"),
        pytest.param([-1.3, 2.2], (-2, 3), id="both-signs"),
    ],
)
def test_nice_bounds__values__lie_inside(values: list[float], bounds: tuple[float, float]) -> None:
    assert nice_bounds(values) == pytest.approx(bounds)


def test_ticks__scale__are_round_and_labelled() -> None:
    marks = ticks(Scale(0, 0.5, 0, 100), unit="%", factor=100)

    assert [mark.label for mark in marks] == ["0 %", "10 %", "20 %", "30 %", "40 %", "50 %"]
    assert marks[-1].at == 100


def test_log_ticks__scale__shows_powers() -> None:
    assert [mark.label for mark in log_ticks(Scale(-1, 3, 0, 100))] == ["0.1", "1", "10", "100", "1,000"]


def test_log_ticks__a_million_and_more__fit_beside_the_axis() -> None:
    assert [mark.label for mark in log_ticks(Scale(5, 7, 0, 100))] == ["100,000", "10^6", "10^7"]
    assert log_ticks(Scale(6, 6.5, 0, 100), unit="ms")[0].label == "10^6 ms"
    assert len(log_ticks(Scale(-40, 40, 0, 100))) <= 6


@pytest.mark.parametrize(
    ("hours", "first", "last"),
    [
        pytest.param(10, "00:00", "10:00", id="a-day-shows-hours"),
        pytest.param(24 * 10, "03-01", "03-11", id="more-shows-days"),
    ],
)
def test_time_ticks__span__chooses_the_unit(hours: int, first: str, last: str) -> None:
    end = START + timedelta(hours=hours)

    marks = time_ticks(x_scale(0, hours * 3600), START, end)

    assert (marks[0].label, marks[-1].label) == (first, last)
    assert (marks[0].at, marks[-1].at) == (LEFT, RIGHT)


def test_time_ticks__one_moment__is_one_mark() -> None:
    assert [mark.label for mark in time_ticks(x_scale(0, 0), START, START)] == ["00:00"]


def test_label_of__number__is_short() -> None:
    assert [label_of(value) for value in (1234567, 0.25, 0.0004, -3)] == ["1,234,567", "0.25", "0", "-3"]


def test_draw_line__gap__breaks_it() -> None:
    scale = Scale(0, 10, 0, 10)

    line = draw_line([(0, 1.0), (1, 2.0), (2, None), (3, 4.0)], scale, scale)

    assert line.segments == ["0.0,1.0 1.0,2.0"]
    assert line.dots == [(0, 1), (1, 2), (3, 4)]


def test_draw_band__points__go_round() -> None:
    scale = Scale(0, 10, 0, 10)

    assert draw_band([(0, 1, 2), (5, 3, 4)], scale, scale) == "0.0,2.0 5.0,4.0 5.0,3.0 0.0,1.0"
