"""The review inbox as a list: every kind, one order, pages, narrowing, counts."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from corrections.actions.inbox import assign_items
from corrections.models import ChangeRequest, RuleProposal
from corrections.queries.inbox import (
    InboxFilters,
    count_items,
    find_item,
    list_items,
    next_item,
    place_of,
    previous_item,
    read_place,
)
from corrections.queries.inbox_kinds import KINDS
from tests.builders import NOW
from tests.conftest import Cast
from tests.corrections.inbox_scenes import build_inbox, make_proposal

pytestmark = pytest.mark.django_db
ALL = InboxFilters()
NEWEST_FIRST = ["canary", "stale", "impact", "alert", "conflict", "change", "proposal", "rewrite"]


def test_list__one_of_every_kind__stands_newest_first(cast: Cast) -> None:
    rows = build_inbox(cast.workspace)

    page = list_items(cast.workspace.pk, ALL)

    assert [item.kind for item in page.rows] == NEWEST_FIRST
    assert {item.kind: item.uuid for item in page.rows} == {kind: row.uuid for kind, row in rows.items()}
    assert page.next_cursor == ""


@pytest.mark.parametrize("size", [1, 2, 3, 6, 7])
def test_list__page_after_page__shows_everything_once(cast: Cast, size: int) -> None:
    build_inbox(cast.workspace)
    for _ in range(3):  # the same moment as each other, and as the item of another kind
        make_proposal(cast.workspace, proposed_at=NOW + timedelta(hours=4))
    seen, cursor = [], ""
    while True:
        page = list_items(cast.workspace.pk, ALL, cursor, size=size)
        seen += [item.uuid for item in page.rows]
        cursor = page.next_cursor
        if not cursor:
            break

    whole = [item.uuid for item in list_items(cast.workspace.pk, ALL).rows]
    assert (seen, len(set(seen))) == (whole, 11)


def test_neighbours__walking_down_and_up__meet_the_same_items(cast: Cast) -> None:
    build_inbox(cast.workspace)
    make_proposal(cast.workspace, proposed_at=NOW + timedelta(hours=4))
    items = list_items(cast.workspace.pk, ALL).rows

    below = [next_item(cast.workspace.pk, ALL, place_of(item)) for item in items]
    above = [previous_item(cast.workspace.pk, ALL, place_of(item)) for item in items]

    assert [item and item.uuid for item in below] == [*[item.uuid for item in items[1:]], None]
    assert [item and item.uuid for item in above] == [None, *[item.uuid for item in items[:-1]]]


def test_list__decided_items__are_gone(cast: Cast) -> None:
    rows = build_inbox(cast.workspace)
    RuleProposal.objects.update(status="rejected")
    ChangeRequest.objects.update(status="approved")  # the clock's now

    assert [item.kind for item in list_items(cast.workspace.pk, ALL).rows] == [
        kind for kind in NEWEST_FIRST if kind not in ("proposal", "change")
    ]
    assert find_item(cast.workspace.pk, "proposal", rows["proposal"].uuid) is None


def test_list__another_workspace__sees_and_finds_nothing(cast: Cast) -> None:
    rows = build_inbox(cast.workspace)

    assert list_items(cast.elsewhere.pk, ALL).rows == []
    assert [kind for kind, row in rows.items() if find_item(cast.elsewhere.pk, kind, row.uuid)] == []
    assert sum(count_items(cast.elsewhere.pk).values()) == 0


@pytest.mark.parametrize(
    ("filters", "kinds"),
    [
        pytest.param({"kind": "alert"}, ["alert"], id="kind"),
        pytest.param({"q": "CITY"}, ["proposal"], id="search ignores case"),
        pytest.param({"q": "100%_"}, [], id="signs of LIKE are text"),
        pytest.param({"assigned": "me"}, ["change"], id="mine"),
        pytest.param(
            {"assigned": "nobody"}, [kind for kind in NEWEST_FIRST if kind != "change"], id="nobody's"
        ),
        pytest.param({"assigned": "me", "kind": "alert"}, [], id="mine of another kind"),
    ],
)
def test_list__narrowed__shows_what_fits(cast: Cast, filters: dict[str, str], kinds: list[str]) -> None:
    rows = build_inbox(cast.workspace)
    reviewer = cast.actor("reviewer")
    assign_items(
        workspace_id=cast.workspace.pk, chosen=[("change", rows["change"].uuid)],
        assignee=cast.reviewer.uuid, by=reviewer,
    )  # fmt: skip

    page = list_items(cast.workspace.pk, InboxFilters(**filters, user_uuid=reviewer.uuid))

    assert [item.kind for item in page.rows] == kinds
    assert {item.assignee for item in page.rows if item.kind == "change"} <= {"reviewer"}


def test_count__every_kind__in_one_query(cast: Cast) -> None:
    build_inbox(cast.workspace)
    make_proposal(cast.workspace)

    with CaptureQueriesContext(connection) as queries:
        counts = count_items(cast.workspace.pk)

    assert counts == {**dict.fromkeys(KINDS, 1), "proposal": 2}
    assert len(queries) == 1


def test_list__many_more_items__no_more_queries(cast: Cast) -> None:
    build_inbox(cast.workspace)
    with CaptureQueriesContext(connection) as few:
        list_items(cast.workspace.pk, ALL)
    for _ in range(30):
        make_proposal(cast.workspace)

    with CaptureQueriesContext(connection) as many:
        list_items(cast.workspace.pk, ALL)

    assert len(many) == len(few) == len(KINDS) + 1


@pytest.mark.parametrize(
    "cursor",
    ["", "~", "x~alert~1", "2026-03-01T12:00:00~alert~1", "2026-03-01T12:00:00+00:00~nothing~1",
     "2026-13-01T12:00:00+00:00~alert~1", "2026-03-01T12:00:00+00:00~alert~-1", "9" * 400],
)  # fmt: skip
def test_cursor__not_one_of_ours__starts_at_the_top(cursor: str) -> None:
    assert read_place(cursor) is None
