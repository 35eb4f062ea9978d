"""Which answers people look at: 10 of every 100, and always the same ones. Pure."""

from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID

SAMPLED_OF_100 = 10
_WEEK = timedelta(days=7)


def is_sampled(uuid: UUID) -> bool:
    """Whether the answer of this uuid is in the sample. Random uuids make it 10 of 100 on average."""
    return uuid.int % 100 < SAMPLED_OF_100


def week_of(moment: datetime) -> date:
    """The Monday of the moment's week, in UTC."""
    day = moment.astimezone(UTC).date()
    return day - timedelta(days=day.weekday())


def week_bounds(monday: date) -> tuple[datetime, datetime]:
    """The first moment of the week and of the next one, in UTC."""
    start = datetime.combine(monday, time.min, UTC)
    return start, start + _WEEK


def week_name(monday: date) -> str:
    """As ISO 8601 writes it: ``2026-W48``."""
    year, week, _ = monday.isocalendar()
    return f"{year:04}-W{week:02}"


def read_week(text: str) -> date | None:
    """The Monday of a week written as ISO 8601 writes it; None for anything else."""
    year, _, week = text.partition("-W")
    if not (year.isascii() and year.isdigit() and week.isascii() and week.isdigit()):
        return None
    try:
        return date.fromisocalendar(int(year), int(week), 1)
    except (ValueError, OverflowError):
        return None
