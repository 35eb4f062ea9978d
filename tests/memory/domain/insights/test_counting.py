"""Cells of counters: caps, exact taking away in any order, contributions that are packed."""

import random

import pytest

from memory.domain.insights import speed, ways
from memory.domain.insights.contributions import MAX_BYTES, TooLargeError, normal, pack, unpack
from memory.domain.insights.shapes import OTHER_SHAPES
from memory.domain.insights.speed import MAX_SHAPES, Speed
from memory.domain.insights.ways import ANY, MAX_CELLS, Cell, Part, Tries


def test_speed__more_shapes_than_are_told_apart__are_the_other_shapes() -> None:
    rows = [speed.Row("2026-03-01", "t", f"({n})", Speed(1, 0, 1, 5.0, {3: 1})) for n in range(100)]
    known: dict[speed.Key, Speed] = {}

    speed.fold(known, rows, 1)

    assert len(known) <= MAX_SHAPES + 2
    assert known["2026-03-01", "t", ""].n == 100
    assert sum(cell.n for (_day, _tool, shape), cell in known.items() if shape) == 100
    assert known["2026-03-01", "t", OTHER_SHAPES].n > 50


def test_speed__taken_away_in_any_order__nothing_is_left() -> None:
    rows = [speed.Row("2026-03-01", "t", f"({n})", Speed(1, 1, 1, 5.0, {n % 7: 1})) for n in range(100)]
    known: dict[speed.Key, Speed] = {}
    speed.fold(known, rows, 1)

    random.Random(1).shuffle(rows)
    speed.fold(known, rows, -1)

    assert all((cell.n, cell.failed, cell.timed, cell.buckets) == (0, 0, 0, {}) for cell in known.values())


def test_ways__more_situations_than_are_told_apart__fall_together_and_are_exact() -> None:
    parts = [
        Part(f"d{n}", "[]", [ways.Row("2026-03-01", "t", f"b{n}", f"t({n})", Tries(1, 1, 2.0, 4.0, 2.0))])
        for n in range(3 * MAX_CELLS)
    ]
    known: dict[Cell, Tries] = {}

    counts: ways.Counts = {}
    ways.fold(known, counts, parts, 1)

    assert len(known) == 2 * MAX_CELLS + 1
    assert sum(cell.n for cell in known.values()) == 3 * MAX_CELLS
    assert known[Cell("2026-03-01", "t", ANY, "", "[]", "t*")].n == MAX_CELLS
    random.Random(2).shuffle(parts)
    ways.fold(known, counts, parts, -1)
    assert {cell.n for cell in known.values()} == {0}


@pytest.mark.parametrize(
    "part", [None, 7, "x", [[1]], {"rows": [["a"]]}, [["2026-03-01", "t", "s", "speed"]]]
)
def test_contribution__of_another_form__has_no_lines(part: object) -> None:
    assert (speed.read(part), ways.read(part).rows) == ([], [])


def test_contribution__packed__comes_back_as_json() -> None:
    parts = {"speed": normal([speed.Row("2026-03-01", "t", "()", Speed(1, 0, 1, 5.0, {-3: 1}))])}

    assert unpack(pack(parts)) == parts
    assert speed.read(unpack(pack(parts))["speed"])[0].speed.buckets == {-3: 1}
    assert unpack(pack({})) == {}


@pytest.mark.parametrize("stored", [b"", b"x", b"\x78\x01broken", pack({"a": 1})[:-4] + b"zzzz"])
def test_contribution__broken__is_empty_or_refused_quietly(stored: bytes) -> None:
    assert unpack(stored) in ({}, {"a": 1})


def test_contribution__too_large__is_refused() -> None:
    with pytest.raises(TooLargeError, match="at most"):
        normal("x" * MAX_BYTES)
