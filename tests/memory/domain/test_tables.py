"""CSV that is safe to open."""

import csv
from datetime import UTC, datetime
from typing import Any

import pytest

from memory.domain.tables import csv_lines, safe_cell


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        pytest.param("=1+1", "'=1+1", id="formula"),
        pytest.param("@SUM(A1)", "'@SUM(A1)", id="at"),
        pytest.param("+49 30", "'+49 30", id="plus"),
        pytest.param("-cmd", "'-cmd", id="minus"),
        pytest.param("\t=1", "'\t=1", id="tab"),
        pytest.param("-1.5", "-1.5", id="number-as-text"),
        pytest.param(-3, "-3", id="number"),
        pytest.param(None, "", id="nothing"),
        pytest.param(True, "True", id="bool"),
        pytest.param("refund", "refund", id="plain"),
        pytest.param(datetime(2026, 3, 1, tzinfo=UTC), "2026-03-01T00:00:00+00:00", id="time"),
    ],
)
def test_safe_cell__value__is_no_formula(value: Any, cell: str) -> None:
    assert safe_cell(value) == cell


def test_csv_lines__rows__read_back() -> None:
    lines = list(csv_lines(["a", "b"], iter([['say "x", y', 1], ["=2", None]])))

    assert list(csv.reader(lines)) == [["a", "b"], ['say "x", y', "1"], ["'=2", ""]]
    assert all(line.endswith("\r\n") for line in lines)
