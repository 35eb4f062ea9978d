"""Times as the formats write them, to RFC 3339 text in UTC."""

from datetime import UTC, datetime, timedelta
from typing import Any

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The size of an epoch number tells its unit: seconds have 10 digits now, milliseconds 13, and so on.
UNIT_LIMITS = ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (float("inf"), 1e9))


def moment(value: Any) -> datetime | None:
    """An ISO 8601 text (no zone means UTC) or an epoch number of any unit; None when it is neither."""
    if isinstance(value, bool) or value is None or value == "":
        return None
    try:
        if isinstance(value, int | float):
            return _from_epoch(value)
        text = str(value).strip()
        if text.isdecimal():
            return _from_epoch(int(text))
        read = datetime.fromisoformat(text)
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def text_of(value: datetime | None) -> str | None:
    """RFC 3339 in UTC with microseconds."""
    return None if value is None else value.isoformat().replace("+00:00", "Z")


def between_ms(start: datetime | None, end: datetime | None) -> float | None:
    """Milliseconds from `start` to `end`; None when one is unknown or they are the wrong way round."""
    if start is None or end is None or end < start:
        return None
    return (end - start) / timedelta(milliseconds=1)


def _from_epoch(number: int | float) -> datetime | None:
    if number <= 0:
        return None
    unit = next(unit for limit, unit in UNIT_LIMITS if number < limit)
    if isinstance(number, int):
        return EPOCH + timedelta(microseconds=number * 1_000_000 // int(unit))
    return EPOCH + timedelta(seconds=number / unit)
