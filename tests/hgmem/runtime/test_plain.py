"""Any value becomes bounded JSON."""

import dataclasses
import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel

from hgmem.runtime.plain import CUT, MAX_CHARS, MAX_TEXT_CHARS, MAX_VALUES, plain


class Colour(Enum):
    RED = "red"


@dataclasses.dataclass
class Place:
    name: str


class Model(BaseModel):
    at: datetime


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class Text(str):
    pass


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (1.5, 1.5),
        (float("nan"), "nan"),
        ({1: (2, "x"), Colour.RED: Colour.RED}, {"1": [2, "x"], "red": "red"}),
        (Place("Rome"), {"name": "Rome"}),
        (Model(at=datetime(2026, 1, 1, tzinfo=UTC)), {"at": "2026-01-01T00:00:00Z"}),
        (datetime(2026, 1, 1, tzinfo=UTC), "2026-01-01T00:00:00+00:00"),
        (timedelta(minutes=1), 60.0),
        (Decimal("1.10"), "1.10"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Path("a/b"), "a/b"),
        (b"abc", "<3 bytes>"),
        ({3, 1, 2}, [1, 2, 3]),
        (Text("x"), "x"),
        (Hostile(), "<Hostile>"),
        (Place, repr(Place)),
    ],
)
def test_plain__value__becomes_json(value: Any, expected: Any) -> None:
    made = plain(value)
    assert made == expected
    json.dumps(made, allow_nan=False)


def test_plain__cycle__ends() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert CUT in json.dumps(plain(loop), ensure_ascii=False)


def test_plain__huge__is_cut() -> None:
    assert len(plain("x" * (MAX_TEXT_CHARS + 1))) == MAX_TEXT_CHARS + 1
    assert len(plain(list(range(MAX_VALUES * 2)))) <= MAX_VALUES + 1
    assert len(json.dumps(plain(["x" * 400_000] * 50))) < MAX_CHARS * 2
    assert plain({str(number): number for number in range(MAX_VALUES * 2)})[CUT].endswith("more")
