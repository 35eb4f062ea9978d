"""The review inbox: everything that waits for a person, of all kinds, as one list."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.dateparse import parse_datetime

from corrections.models import Assignment, ChangeRequest, ItemComment
from corrections.queries.inbox_kinds import KINDS, Item, Kind
from memory.queries.paging import read_number
from memory.queries.workspaces import workspace_rows

PAGE_SIZE = 50
ORDER = list(KINDS)


@dataclass(frozen=True)
class InboxFilters:
    """``kind``: one of them, or "" for all. ``assigned``: ``me``, ``nobody`` or "". ``q``: in the title.

    ``user_uuid`` says whose items ``me`` are.
    """

    kind: str = ""
    assigned: str = ""
    q: str = ""
    user_uuid: str = ""


@dataclass(frozen=True)
class Place:
    """Where an item stands in the list: newer first, then by kind, then newer rows first."""

    at: datetime
    kind: str
    pk: int

    def __str__(self) -> str:
        return f"{self.at.isoformat()}~{self.kind}~{self.pk}"


@dataclass(frozen=True)
class Comment:
    """What somebody said about an item."""

    author_name: str
    text: str
    at: datetime


@dataclass(frozen=True)
class InboxPage:
    """Items, newest first, and the cursor of the next page ("" at the end)."""

    rows: list[Item]
    next_cursor: str = ""
    stopped_early: bool = False


def list_items(
    workspace_id: int, filters: InboxFilters, cursor: str = "", *, size: int = PAGE_SIZE
) -> InboxPage:
    """One page. As many queries as there are kinds, and one for the assignments, whatever the page holds.

    A cursor that cannot be read starts at the top.
    """
    place = read_place(cursor)
    found: list[Item] = []
    for kind in _asked(filters):
        rows = _filtered(kind, workspace_id, filters)
        if place is not None:
            rows = rows.filter(_below(kind, place))
        found += [_item(kind, row) for row in rows.order_by(f"-{kind.at}", "-pk")[: size + 1]]
    found.sort(key=_standing)
    page = with_assignees(workspace_id, found[:size])
    return InboxPage(page, str(place_of(page[-1])) if len(found) > size else "")


def next_item(workspace_id: int, filters: InboxFilters, place: Place) -> Item | None:
    """The item below ``place``, or None at the end."""
    return next(iter(list_items(workspace_id, filters, str(place), size=1).rows), None)


def previous_item(workspace_id: int, filters: InboxFilters, place: Place) -> Item | None:
    """The item above ``place``, or None at the top."""
    found = [
        _item(kind, row)
        for kind in _asked(filters)
        for row in _filtered(kind, workspace_id, filters)
        .filter(_above(kind, place))
        .order_by(kind.at, "pk")[:1]
    ]
    return max(found, key=_standing, default=None)


def find_item(workspace_id: int, kind: str, uuid: UUID) -> Item | None:
    """One item that still waits; None for what is decided, unknown or foreign. Two queries."""
    row = KINDS[kind].rows(workspace_id).filter(uuid=uuid).first() if kind in KINDS else None
    return with_assignees(workspace_id, [_item(KINDS[kind], row)])[0] if row is not None else None


def find_decided(workspace_id: int, kind: str, uuid: UUID) -> Any:
    """The thing itself in any status, of the kinds whose decisions can be taken back; else None."""
    rows = KINDS[kind].all_rows if kind in KINDS else None
    return rows(workspace_id).filter(uuid=uuid).first() if rows is not None else None


def find_items(workspace_id: int, chosen: Sequence[tuple[str, UUID]]) -> list[Item]:
    """Those of the chosen that still wait, in the order of the list. A query for each kind."""
    found = [
        _item(kind, row)
        for kind in KINDS.values()
        for row in kind.rows(workspace_id).filter(
            uuid__in=[uuid for name, uuid in chosen if name == kind.name]
        )
    ]
    return with_assignees(workspace_id, sorted(found, key=_standing))


def count_items(workspace_id: int) -> dict[str, int]:
    """How many items of each kind wait. One query."""
    counts: dict[str, Any] = {
        f"n_{name}": Coalesce(Subquery(_count(kind, workspace_id)), 0) for name, kind in KINDS.items()
    }
    found: Any = workspace_rows(workspace_id).values(**counts).get()
    return {name: found[f"n_{name}"] for name in KINDS}


def comments_on(workspace_id: int, item: Item) -> list[Comment]:
    """What people said about an item, oldest first. A change request keeps its own."""
    columns = ("author_name", "text", "at")
    if isinstance(item.row, ChangeRequest):
        return [Comment(*row) for row in item.row.comments.values_list(*columns)]
    rows = ItemComment.objects.filter(
        workspace_id=workspace_id, item_kind=item.kind, item_uuid=item.uuid
    ).values_list(*columns)
    return [Comment(*row) for row in rows]


def with_assignees(workspace_id: int, items: list[Item]) -> list[Item]:
    """The items with the names of who looks at them. One query."""
    rows = Assignment.objects.filter(workspace_id=workspace_id, item_uuid__in=[item.uuid for item in items])
    columns = rows.values_list("item_kind", "item_uuid", "assignee__user__username")
    names = {(kind, uuid): name for kind, uuid, name in columns}
    return [replace(item, assignee=names.get((item.kind, item.uuid), "")) for item in items]


def place_of(item: Item) -> Place:
    """Where an item stands."""
    return Place(item.at, item.kind, item.row.pk)


def read_place(cursor: str) -> Place | None:
    """A cursor of :func:`list_items`; None for any other text."""
    at_text, _, rest = cursor.partition("~")
    kind, _, key = rest.partition("~")
    try:
        at = parse_datetime(at_text)
    except ValueError:
        return None
    pk = read_number(key)
    if at is None or at.tzinfo is None or kind not in KINDS or pk is None:
        return None
    return Place(at, kind, pk)


def _asked(filters: InboxFilters) -> Iterator[Kind]:
    yield from (kind for kind in KINDS.values() if filters.kind in ("", kind.name))


def _filtered(kind: Kind, workspace_id: int, filters: InboxFilters) -> QuerySet[Any]:
    rows = kind.rows(workspace_id)
    if filters.assigned:
        mine = Assignment.objects.filter(workspace_id=workspace_id, item_kind=kind.name)
        if filters.assigned == "me":
            rows = rows.filter(
                uuid__in=mine.filter(assignee__user__uuid=filters.user_uuid).values("item_uuid")
            )
        else:
            rows = rows.exclude(uuid__in=mine.values("item_uuid"))
    if filters.q:
        said = Q()
        for name in kind.searched:
            said |= Q(**{f"{name}__icontains": filters.q})
        rows = rows.filter(said)
    return rows


def _below(kind: Kind, place: Place) -> Q:
    earlier = Q(**{f"{kind.at}__lt": place.at})
    return earlier | _same_moment(kind, place, "pk__lt", ORDER.index(kind.name) - ORDER.index(place.kind))


def _above(kind: Kind, place: Place) -> Q:
    later = Q(**{f"{kind.at}__gt": place.at})
    return later | _same_moment(kind, place, "pk__gt", ORDER.index(place.kind) - ORDER.index(kind.name))


def _same_moment(kind: Kind, place: Place, beyond: str, kinds_beyond: int) -> Q:
    """Rows of the very same moment that stand beyond the place: of kinds beyond its own, or ids beyond it."""
    same = Q(**{kind.at: place.at})
    if kinds_beyond == 0:
        return same & Q(**{beyond: place.pk})
    return same if kinds_beyond > 0 else Q(pk__in=[])


def _item(kind: Kind, row: Any) -> Item:
    return Item(kind.name, row.uuid, getattr(row, kind.at), row, kind.brief(row))


def _standing(item: Item) -> tuple[float, int, int]:
    return -item.at.timestamp(), ORDER.index(item.kind), -item.row.pk


def _count(kind: Kind, workspace_id: int) -> Any:
    rows: Any = kind.rows(workspace_id).order_by().values("workspace")
    return rows.annotate(n=Count("pk")).values("n")
