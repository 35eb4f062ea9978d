"""Keyset pages: the same cost on every page, stable while rows arrive, no COUNT."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db.models import Model, Q, QuerySet

M = TypeVar("M", bound=Model)

PAGE_SIZE = 50


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


def most_first(rows: QuerySet[M], field: str, cursor: str, *, size: int = PAGE_SIZE) -> Page[M]:
    """One page by a descending number or time, ties by descending id. Cursor: ``value~id``."""
    value, _, key = cursor.rpartition("~")
    last = read_number(key)
    if value and last is not None:
        rows = rows.filter(Q(**{f"{field}__lt": value}) | Q(**{field: value}, pk__lt=last))
    found = list(rows.order_by(f"-{field}", "-pk")[: size + 1])
    if len(found) <= size:
        return Page(found)
    end = found[size - 1]
    edge = getattr(end, field)
    text = edge.isoformat() if hasattr(edge, "isoformat") else str(edge)
    return Page(found[:size], f"{text}~{end.pk}")


def read_number(text: str) -> int | None:
    """A cursor's number; None for anything that is not one (cursors come from the address bar)."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None
