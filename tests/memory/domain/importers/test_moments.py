"""Every way the formats write a time."""

from datetime import UTC, datetime

import pytest

from memory.domain.importers.moments import between_ms, moment, text_of

NOON = datetime(2026, 5, 20, 12, 0, 0, 250_000, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("2026-05-20T12:00:00.250Z", id="zulu"),
        pytest.param("2026-05-20T14:00:00.25+02:00", id="offset"),
        pytest.param("2026-05-20 12:00:00.250000", id="no_zone_is_utc"),
        pytest.param(1779278400.25, id="seconds"),
        pytest.param(1779278400250, id="milliseconds"),
        pytest.param(1779278400250000, id="microseconds"),
        pytest.param("1779278400250000000", id="nanoseconds_text"),
    ],
)
def test_moment__any_spelling__is_the_same_instant(value):
    assert moment(value) == NOON
    assert text_of(moment(value)) == "2026-05-20T12:00:00.250000Z"


@pytest.mark.parametrize(
    "value", ["", None, "soon", True, 0, -5, [], {}, "99999-01-01", 10**40, "2026-13-01"]
)
def test_moment__no_time__is_none(value):
    assert moment(value) is None


def test_between_ms__wrong_way_round_or_unknown__is_none():
    later = moment("2026-05-20T12:00:01.250Z")

    assert between_ms(NOON, later) == 1000.0
    assert between_ms(later, NOON) is None
    assert between_ms(None, later) is None
