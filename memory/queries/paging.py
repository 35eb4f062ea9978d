"""Keyset pages: the same cost on every page, stable while rows arrive, no COUNT."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar, cast

from django.core.exceptions import ValidationError
from django.db.models import Field, Model, Q, QuerySet

M = TypeVar("M", bound=Model)

PAGE_SIZE = 50
WINDOW = 20_000
"""How many rows one page looks through for a filter that has no index."""


@dataclass(frozen=True)
class Page(Generic[M]):
    """Rows, the cursor of the next page ("" at the end), and whether a bounded search stopped early.

    ``stopped_early`` means: these are the matches among the newest rows that were looked at; the next
    page goes on from there.
    """

    rows: list[M]
    next_cursor: str = ""
    stopped_early: bool = False


def newest_first(rows: QuerySet[M], cursor: str, *, size: int = PAGE_SIZE) -> Page[M]:
    """One page by descending id. A cursor that is not a number starts at the top."""
    before = read_number(cursor)
    if before is not None:
        rows = rows.filter(pk__lt=before)
    found = list(rows.order_by("-pk")[: size + 1])
    more = len(found) > size
    return Page(found[:size], str(found[size - 1].pk) if more else "")


def newest_matching(
    rows: QuerySet[M],
    match: Callable[[QuerySet[M]], QuerySet[M]],
    cursor: str,
    *,
    size: int = PAGE_SIZE,
    window: int = 0,
) -> Page[M]:
    """One page by descending id of what ``match`` keeps, where no index answers that.

    It looks among the next ``window`` rows (``WINDOW`` unless given) and says whether it stopped there.
    """
    before = read_number(cursor)
    ahead = rows if before is None else rows.filter(pk__lt=before)
    floor = id_after(ahead, window or WINDOW)
    page = newest_first(match(rows.filter(pk__gte=floor)), cursor, size=size)
    return page if page.next_cursor or not floor else Page(page.rows, str(floor), stopped_early=True)


def id_after(rows: QuerySet[M], count: int) -> int:
    """The id of the row after the newest ``count``; 0 where there are no more."""
    return next(iter(rows.order_by("-pk").values_list("pk", flat=True)[count : count + 1]), 0)


def most_first(rows: QuerySet[M], field: str, cursor: str, *, size: int = PAGE_SIZE) -> Page[M]:
    """One page by a descending number or time, ties by descending id. Cursor: ``value~id``."""
    edge = _read_edge(rows, field, cursor)
    if edge is not None:
        value, last = edge
        rows = rows.filter(Q(**{f"{field}__lt": value}) | Q(**{field: value}, pk__lt=last))
    found = list(rows.order_by(f"-{field}", "-pk")[: size + 1])
    if len(found) <= size:
        return Page(found)
    end = found[size - 1]
    value = getattr(end, field)
    text = value.isoformat() if isinstance(value, datetime) else str(value)
    return Page(found[:size], f"{text}~{end.pk}")


def _read_edge(rows: QuerySet[M], field: str, cursor: str) -> tuple[Any, int] | None:
    """Where the page before ended; None for anything that is no cursor of this list."""
    text, _, key = cursor.rpartition("~")
    last = read_number(key)
    try:
        value = cast("Field[Any, Any]", rows.model._meta.get_field(field)).to_python(text)
    except ValidationError:
        return None
    is_naive = isinstance(value, datetime) and value.tzinfo is None
    is_huge = isinstance(value, int) and abs(value) >= 1 << 31
    return None if last is None or value is None or is_naive or is_huge else (value, last)


def read_number(text: str) -> int | None:
    """A cursor's number; None for anything that is not one (cursors come from the address bar)."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None
