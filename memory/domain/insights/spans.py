"""Days: the one of a moment, and those that an insight looks back."""

from datetime import UTC, date, datetime, timedelta

SPANS = (7, 30, 90)
"""Days a page offers; the middle one unless asked otherwise."""
MAX_DAYS = 366


def read_span(text: str) -> int | None:
    """How many days were asked for; None for anything that is no number between 1 and ``MAX_DAYS``."""
    is_number = text.isascii() and text.isdigit() and len(text) <= 3
    return int(text) if is_number and 1 <= int(text) <= MAX_DAYS else None


def day_of(moment: datetime) -> str:
    """The UTC day of a moment, as ISO text."""
    return moment.astimezone(UTC).date().isoformat()


def first_day(today: date, span: int) -> date:
    """The first of the ``span`` days that end with ``today``."""
    return today - timedelta(days=span - 1)
