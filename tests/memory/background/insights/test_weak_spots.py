"""Weak spots from rows: found across tools, kept under their name, resolved when quiet."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.background.insights import failure_hours
from memory.background.insights.weak_spots import drop_old_hours, find_spots, search
from memory.domain.insights.failure_hours import hour_of
from memory.models import (
    ErrorPattern,
    PatternHour,
    ToolHour,
    WeakSpot,
    WeakSpotMember,
    WeakSpotScan,
    Workspace,
)
from tests.builders import NOW, make_link, make_pattern

pytestmark = pytest.mark.django_db


def make_pair(workspace: Workspace, word: str = "user_id", **fields: Any) -> list[ErrorPattern]:
    """Patterns of two tools that blame the same thing."""
    given = {"identifier": word, "scope": "shop", **fields}
    return [make_pattern(workspace, f"{tool}: no {word}", tool=tool, **given) for tool in ("search", "book")]


def members(spot: WeakSpot) -> set[str]:
    """The titles of its patterns."""
    return set(spot.members.values_list("pattern__title", flat=True))


def hours(calls: dict[tuple[str, int], int], failures: dict[tuple[int, int], int]) -> Any:
    """What a task adds to the hours."""
    return {
        "calls": [[tool, hour, n] for (tool, hour), n in calls.items()],
        "failures": [[pattern, hour, n] for (pattern, hour), n in failures.items()],
    }


def test_search__same_identifier_in_two_tools__one_spot_with_its_facts(workspace: Workspace) -> None:
    make_pair(workspace, occurrence_count=4)
    make_pattern(workspace, "alone", tool="pay")

    search(workspace.pk, now=NOW)

    spot = WeakSpot.objects.get()
    assert members(spot) == {"search: no user_id", "book: no user_id"}
    assert (spot.tools, spot.failures, spot.words) == (["book", "search"], 8, ["user_id"])
    assert spot.bonds == {"identifier": 1}
    assert spot.status == "open"


def test_search__ignored_foreign_and_task_level__take_no_part(workspace: Workspace) -> None:
    other = Workspace.objects.create(slug="other", name="Other")
    make_pattern(workspace, "a", tool="a", identifier="x")
    make_pattern(workspace, "b", tool="b", identifier="x", status="ignored")
    make_pattern(workspace, "c", tool="(task)", identifier="x")
    make_pattern(other, "d", tool="d", identifier="x")

    search(workspace.pk, now=NOW)

    assert not WeakSpot.objects.exists()


def test_search__bursts_in_the_same_hours__bound_by_them(workspace: Workspace) -> None:
    one, other = (make_pattern(workspace, tool, tool=tool) for tool in ("search", "book"))
    start = hour_of(NOW) - 200
    calls = {(tool, start + step): 50 for tool in ("search", "book") for step in range(200)}
    failures = {(pattern.pk, start + step): 20 for pattern in (one, other) for step in (150, 151, 152)}
    failure_hours.apply(workspace.pk, [], [hours(calls, failures)])

    search(workspace.pk, now=NOW)

    spot = WeakSpot.objects.get()
    assert spot.bonds == {"burst": 1}
    assert spot.burst_hours == [start + 150, start + 151, start + 152]
    assert spot.lately == 120


def test_search__again_with_one_pattern_more__same_spot(workspace: Workspace) -> None:
    pair = make_pair(workspace)
    search(workspace.pk, now=NOW)
    before = WeakSpot.objects.get()
    make_link(pair[0], make_pattern(workspace, "near", tool="pay"))

    search(workspace.pk, now=NOW + timedelta(hours=1))

    after = WeakSpot.objects.get()
    assert (after.uuid, after.found_at) == (before.uuid, before.found_at)
    assert len(members(after)) == 3


def test_search__one_pattern_leaves_and_one_fails_more__members_follow(workspace: Workspace) -> None:
    pair = make_pair(workspace)
    third = make_pattern(workspace, "near", tool="pay", identifier="user_id", scope="shop")
    search(workspace.pk, now=NOW)
    ErrorPattern.objects.filter(pk=third.pk).update(status="ignored")
    ErrorPattern.objects.filter(pk=pair[0].pk).update(occurrence_count=9)

    search(workspace.pk, now=NOW + timedelta(hours=1))

    counts = dict(WeakSpotMember.objects.values_list("pattern__title", "failures"))
    assert counts == {"search: no user_id": 9, "book: no user_id": 1}


def test_search__more_spots__asks_for_members_no_more_often(workspace: Workspace) -> None:
    def looks(words: range) -> int:
        for number in words:
            make_pair(workspace, f"word_{number}")
        search(workspace.pk, now=NOW)
        with CaptureQueriesContext(connection) as queries:
            search(workspace.pk, now=NOW)
        return sum("weakspotmember" in query["sql"] for query in queries)

    assert looks(range(2)) == looks(range(2, 12))


@pytest.mark.parametrize(
    ("at", "status", "why"),
    [
        pytest.param(NOW + timedelta(days=13), "open", "", id="not quiet for long enough"),
        pytest.param(NOW + timedelta(days=15), "resolved", "quiet", id="quiet"),
    ],
)
def test_search__no_failure_lately__resolved(
    workspace: Workspace, at: datetime, status: str, why: str
) -> None:
    make_pair(workspace)

    search(workspace.pk, now=at)

    spot = WeakSpot.objects.get()
    assert (spot.status, spot.why_resolved, spot.resolved_at is not None) == (status, why, bool(why))


def test_search__fails_again__open_again(workspace: Workspace) -> None:
    make_pair(workspace)
    search(workspace.pk, now=NOW + timedelta(days=15))
    ErrorPattern.objects.update(last_seen_at=NOW + timedelta(days=16))

    search(workspace.pk, now=NOW + timedelta(days=17))

    spot = WeakSpot.objects.get()
    assert (spot.status, spot.why_resolved, spot.resolved_at) == ("open", "", None)


def test_search__patterns_fall_apart__resolved_with_the_reason(workspace: Workspace) -> None:
    make_pair(workspace)
    search(workspace.pk, now=NOW)
    ErrorPattern.objects.filter(tool="book").update(status="ignored")

    search(workspace.pk, now=NOW + timedelta(hours=1))

    assert list(WeakSpot.objects.values_list("status", "why_resolved")) == [("resolved", "apart")]


def test_search__twice__changes_nothing(workspace: Workspace) -> None:
    make_pair(workspace)
    search(workspace.pk, now=NOW)
    before = (list(WeakSpot.objects.values()), list(WeakSpotMember.objects.values()))

    search(workspace.pk, now=NOW)

    assert (list(WeakSpot.objects.values()), list(WeakSpotMember.objects.values())) == before


def test_find_spots__nothing_new__not_searched_again(workspace: Workspace) -> None:
    make_pair(workspace)

    assert find_spots(NOW) == 1
    assert find_spots(NOW + timedelta(minutes=10)) == 0
    make_pattern(workspace, "new", tool="pay")
    assert find_spots(NOW + timedelta(minutes=1)) == 0
    assert find_spots(NOW + timedelta(minutes=10)) == 1
    assert find_spots(NOW + timedelta(hours=12)) == 1


def test_find_spots__another_worker_is_at_it__left_to_it_until_its_lease_ends(workspace: Workspace) -> None:
    make_pair(workspace)
    WeakSpotScan.objects.create(workspace=workspace, leased_until=NOW + timedelta(minutes=2))

    assert find_spots(NOW) == 0
    assert find_spots(NOW + timedelta(minutes=3)) == 1


def test_hours__task_changes_and_goes__counts_follow(workspace: Workspace) -> None:
    pattern = make_pattern(workspace)
    old = hours({("book", 5): 3}, {(pattern.pk, 5): 2})
    new = hours({("book", 5): 1, ("pay", 6): 1}, {(pattern.pk, 6): 1})
    failure_hours.apply(workspace.pk, [], [old, old])

    failure_hours.apply(workspace.pk, [old], [new])

    assert set(ToolHour.objects.values_list("tool", "hour", "calls")) == {("book", 5, 4), ("pay", 6, 1)}
    assert set(PatternHour.objects.values_list("hour", "failures")) == {(5, 2), (6, 1)}


def test_hours__that_were_dropped__are_not_counted_below_zero(workspace: Workspace) -> None:
    old = hours({("book", 5): 3}, {})
    failure_hours.apply(workspace.pk, [], [old])
    drop_old_hours(NOW)

    failure_hours.apply(workspace.pk, [old], [])

    assert not ToolHour.objects.exists()
