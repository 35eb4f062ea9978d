"""The weekly sample: which answers, which week."""

from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import pytest

from memory.domain.locating.sampling import is_sampled, read_week, week_bounds, week_name, week_of


def test_is_sampled__many_uuids__are_ten_of_a_hundred_and_always_the_same() -> None:
    uuids = [UUID(int=number * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128) for number in range(5_000)]

    chosen = [uuid for uuid in uuids if is_sampled(uuid)]

    assert 0.08 < len(chosen) / len(uuids) < 0.12
    assert all(is_sampled(UUID(str(uuid))) for uuid in chosen)


@pytest.mark.parametrize(
    ("moment", "name"),
    [
        pytest.param(datetime(2026, 11, 30, 0, 0, tzinfo=UTC), "2026-W49", id="monday begins"),
        pytest.param(datetime(2026, 11, 29, 23, 59, tzinfo=UTC), "2026-W48", id="sunday ends"),
        pytest.param(datetime(2027, 1, 1, 12, tzinfo=UTC), "2026-W53", id="new year belongs to the old week"),
    ],
)
def test_week_of__moment__is_its_iso_week(moment: datetime, name: str) -> None:
    monday = week_of(moment)
    start, end = week_bounds(monday)

    assert week_name(monday) == name
    assert read_week(name) == monday
    assert start <= moment < end == start + timedelta(days=7)


@pytest.mark.parametrize(
    "text", ["", "2026", "2026-W", "2026-W60", "2026-W0", "x-W1", "٣-W1", "99999-W01", "-W1"]
)
def test_read_week__not_a_week__is_none(text: str) -> None:
    assert read_week(text) is None


def test_read_week__week_of_another_shape__is_its_monday() -> None:
    assert read_week("2026-W1") == date(2025, 12, 29)
