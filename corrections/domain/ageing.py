"""How old a rule's last match is, counted in calls of its tool that it let pass. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

LATELY_DAYS = 30
"""What "lately" is."""
LOOKED_BACK_DAYS = 180
"""Calls before are not counted."""


@dataclass(frozen=True)
class Ageing:
    """Since when a rule has not matched: ``since`` is when it was first served where not ``has_matched``.

    ``calls_since`` are the calls of its tool on the days after ``since`` (at most ``LOOKED_BACK_DAYS`` back);
    ``matches_lately`` and ``calls_lately`` belong to the last ``LATELY_DAYS``.
    """

    has_matched: bool
    since: datetime
    days: int
    calls_since: int
    matches_lately: int
    calls_lately: int

    @property
    def per_100(self) -> float | None:
        """Matches in 100 calls of its tool lately; None where it was not called. Calls that were asked about
        but never recorded make it too high, so it ends at 100."""
        if self.calls_lately == 0:
            return None
        return min(100.0, 100.0 * self.matches_lately / self.calls_lately)

    @property
    def is_unused(self) -> bool:
        """Whether its tool was called lately, and it did not match."""
        return self.calls_lately > 0 and self.matches_lately == 0 and self.days > 0


def age_of(
    *, served_since: datetime, last_matched_at: datetime | None, matches_lately: int,
    calls: Mapping[date, int], now: datetime,
) -> Ageing:  # fmt: skip
    """The age of a rule from the calls of its tool by day (UTC)."""
    since = last_matched_at or served_since
    lately = first_day(now, LATELY_DAYS)
    return Ageing(
        has_matched=last_matched_at is not None,
        since=since,
        days=max((now - since).days, 0),
        calls_since=sum(n for day, n in calls.items() if day > since.date()),
        matches_lately=matches_lately,
        calls_lately=sum(n for day, n in calls.items() if day >= lately),
    )


def first_day(now: datetime, days: int) -> date:
    """The first of the last ``days`` days."""
    return now.date() - timedelta(days=days - 1)
