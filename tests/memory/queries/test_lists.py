"""Lists: filters, pages that neither lose nor repeat a row, bounded searches that say so."""

from datetime import timedelta

import pytest

from memory.queries import paging
from memory.queries.audit import changes_of, list_events
from memory.queries.patterns import PatternFilters, list_patterns
from memory.queries.search import search_memory
from memory.queries.tasks import TaskFilters, list_tasks, task_timeline
from tests.builders import NOW, make_call, make_pattern, make_step, make_task, make_tool
from tests.conftest import Cast


def walk(fetch: object) -> list[object]:
    """Every row of every page."""
    rows, cursor = [], ""
    while True:
        page = fetch(cursor)
        rows += page.rows
        cursor = page.next_cursor
        if not cursor:
            return rows


def test_list_tasks__many_pages__lose_and_repeat_nothing(cast: Cast) -> None:
    made = [make_task(cast.workspace).pk for _ in range(120)]
    make_task(cast.elsewhere)

    rows = walk(lambda cursor: list_tasks(cast.workspace, TaskFilters(), cursor))

    assert [task.pk for task in rows] == sorted(made, reverse=True)


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        pytest.param(TaskFilters(outcome="failure"), {"b"}, id="outcome"),
        pytest.param(TaskFilters(agent="claude"), {"b"}, id="agent"),
        pytest.param(TaskFilters(tool="pay"), {"b"}, id="tool"),
        pytest.param(TaskFilters(tag="订单"), {"a"}, id="tag"),
        pytest.param(TaskFilters(tag='quo"te'), {"b"}, id="tag-with-quote"),
        pytest.param(TaskFilters(tag="order"), set(), id="tag-is-whole"),
        pytest.param(TaskFilters(text="FLIGHT"), {"a"}, id="text-in-goal"),
        pytest.param(TaskFilters(text="100%"), {"b"}, id="percent-is-literal"),
        pytest.param(TaskFilters(since=NOW), {"b"}, id="since"),
        pytest.param(TaskFilters(until=NOW), {"a"}, id="until"),
        pytest.param(TaskFilters(outcome="failure", tag="订单"), set(), id="both-must-hold"),
    ],
)
def test_list_tasks__filter__finds_what_it_says(cast: Cast, filters: TaskFilters, found: set[str]) -> None:
    day = timedelta(days=1)
    make_task(cast.workspace, "a", goal="Change a flight", tags=["订单", "orders"], received_at=NOW - day)
    task = make_task(
        cast.workspace,
        "b",
        goal="100% off",
        tags=['quo"te'],
        agent="claude",
        outcome="failure",
        received_at=NOW + day,
    )
    make_call(task, "pay")
    make_tool(cast.workspace, "pay", call_count=1)

    assert {row.external_id for row in list_tasks(cast.workspace, filters, "").rows} == found


def test_list_tasks__common_tool__is_found_from_the_tasks(cast: Cast) -> None:
    make_tool(cast.workspace, "pay", call_count=10**6)
    make_call(make_task(cast.workspace, "a"), "pay")
    make_call(make_task(cast.workspace, "b"), "other")

    rows = list_tasks(cast.workspace, TaskFilters(tool="pay"), "").rows

    assert [row.external_id for row in rows] == ["a"]


def test_list_tasks__search_beyond_the_window__stops_says_so_and_goes_on(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "WINDOW", 10)
    make_task(cast.workspace, "old", goal="needle")
    for _ in range(25):
        make_task(cast.workspace)

    first = list_tasks(cast.workspace, TaskFilters(text="needle"), "")
    rows = walk(lambda cursor: list_tasks(cast.workspace, TaskFilters(text="needle"), cursor))

    assert (first.rows, first.stopped_early) == ([], True)
    assert [row.external_id for row in rows] == ["old"]


@pytest.mark.parametrize("order", ["count", "recent"])
def test_list_patterns__ties__lose_and_repeat_nothing(cast: Cast, order: str) -> None:
    made = {
        make_pattern(cast.workspace, occurrence_count=n % 3, last_seen_at=NOW + timedelta(hours=n % 3)).pk
        for n in range(130)
    }

    rows = walk(lambda cursor: list_patterns(cast.workspace, PatternFilters(order=order), cursor))

    assert {row.pk for row in rows} == made
    assert len(rows) == len(made)
    counts = [row.occurrence_count for row in rows]
    assert counts == sorted(counts, reverse=True)


def test_task_timeline__pages__keep_order_and_show_reasoning_once_a_turn(cast: Cast) -> None:
    task = make_task(cast.workspace)
    for seq in range(5):
        make_call(task, seq=seq, step=seq // 2)
    make_step(task, 0, "think")

    first = task_timeline(task, size=3)
    second = task_timeline(task, after=first.next_seq, size=3)

    assert [entry.call.seq for entry in first.entries + second.entries] == [0, 1, 2, 3, 4]
    assert [entry.reasoning for entry in first.entries] == ["think", "", ""]
    assert second.next_seq is None


def test_search_memory__exact_id__comes_first_even_when_old(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "WINDOW", 2)
    make_task(cast.workspace, "run-1")
    for number in range(5):
        make_task(cast.workspace, f"x-{number}", goal="about run-1")

    found = search_memory(cast.workspace, "run-1")

    assert found.tasks[0].external_id == "run-1"


def test_search_memory__foreign_rows__are_not_found(cast: Cast) -> None:
    make_task(cast.elsewhere, "needle")
    make_pattern(cast.elsewhere, "needle")
    make_tool(cast.elsewhere, "needle")

    found = search_memory(cast.workspace, "needle")

    assert (found.tasks, found.patterns, found.tools) == ([], [], [])


def test_list_events__only_this_workspace__with_what_changed(cast: Cast) -> None:
    page = list_events(cast.workspace, text="maintainer", kind="User", cursor="")

    [event] = page.rows
    assert event.verb == "add_member"
    assert [(change.field, change.old, change.new) for change in changes_of(event)] == [
        ("role", None, "maintainer")
    ]
