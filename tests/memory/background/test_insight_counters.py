"""Speed, ways and retries of recorded tasks: exact after every change, whatever the order."""

from typing import Any

import msgspec
import pytest
from django.db.models import F

from memory.actions.judge import judge_task
from memory.actions.record import record_experience
from memory.background.analyse import analyse_backlog
from memory.background.insights.counting import count_backlog
from memory.domain.experience import OutcomeDoc
from memory.models import RetryCell, SpeedCell, Task, TaskInsight, WayCell, Workspace
from memory.permissions import SYSTEM
from tests.builders import make_failure, make_pattern

NO_SEAT = {"message": "No seat", "type": "E"}


def call(tool: str, ms: float | None = 10.0, *, ok: bool = True, **given: Any) -> dict[str, Any]:
    """One call of a document."""
    more = {"status": "ok"} if ok else {"status": "error", "error": NO_SEAT}
    return {"tool": tool, "input": given, "duration_ms": ms, "started_at": "2026-03-01T10:00:00Z", **more}


TRIED = [
    call("find", 20.0, q="x"), call("book", 100.0, ok=False, id=7), call("book", 110.0, ok=False, id=7),
    call("find", 30.0, q="y"), call("book", 90.0, id=70),
]  # fmt: skip


def finish(workspace: Workspace, name: str, calls: list[dict[str, Any]], **fields: Any) -> Task:
    """A recorded, finished, analysed and counted task."""
    document = {
        "external_id": name, "goal": "Book", "calls": calls, "final": True,
        "outcome": {"result": "success", "by": "environment"}, **fields,
    }  # fmt: skip
    record_experience(workspace_id=workspace.pk, documents=[document], by=SYSTEM)
    settle()
    return Task.objects.get(external_id=name)


def settle() -> None:
    """The worker has done everything."""
    while analyse_backlog() or count_backlog():
        pass


def tables() -> list[list[tuple[Any, ...]]]:
    """What the counters' tables show, without empty cells."""
    speed = SpeedCell.objects.filter(n__gt=0).order_by("tool", "shape")
    ways = WayCell.objects.filter(n__gt=0).order_by("tool", "before", "way", "key")
    retries = RetryCell.objects.filter(calls__gt=0) | RetryCell.objects.filter(failures__gt=0)
    return [
        list(speed.values_list("tool", "day", "shape", "n", "failed", "timed", "ms_sum")),
        list(ways.values_list("tool", "before", "tags", "way", "n", "succeeded", "ms_sum", "ms_succeeded")),
        list(
            retries.order_by("tool", "pattern").values_list(
                "tool", "calls", "ms", "failures", "retries", "retry_ms", "recovered", "given_up"
            )
        ),
    ]


def test_speed__calls__are_counted_by_tool_and_shape(workspace: Workspace) -> None:
    finish(workspace, "a", TRIED)

    cells = SpeedCell.objects.order_by("tool", "shape")
    assert list(cells.values_list("tool", "shape", "n", "failed", "timed", "ms_sum")) == [
        ("book", "", 3, 2, 3, 300.0),
        ("book", "(id: 1-10)", 2, 2, 2, 210.0),
        ("book", "(id: 11-100)", 1, 0, 1, 90.0),
        ("find", "", 2, 0, 2, 50.0),
        ("find", "(q: text<100)", 2, 0, 2, 50.0),
    ]
    assert {str(cell.day) for cell in cells} == {"2026-03-01"}
    assert sum(cells[0].buckets.values()) == 3


def test_ways__calls_and_sequences__are_attempts_in_their_situation(workspace: Workspace) -> None:
    finish(workspace, "a", TRIED, tags=["vip", "air"], env={"domain": "airline"})

    rows = WayCell.objects.filter(tool="book").order_by("before", "way")
    assert list(rows.values_list("before", "way", "n", "succeeded", "ms_sum")) == [
        ("(start)", "find > book", 1, 0, 120.0),
        ("book", "book(id: 1-10)", 1, 0, 110.0),
        ("book", "find > book", 1, 1, 120.0),
        ("find", "book(id: 1-10)", 1, 0, 100.0),
        ("find", "book(id: 11-100)", 1, 1, 90.0),
    ]
    assert set(rows.values_list("tags", "domain")) == {('["air", "vip"]', "airline")}


def test_retries__chain__is_charged_to_its_pattern_and_its_tool(workspace: Workspace) -> None:
    finish(workspace, "a", TRIED)
    finish(workspace, "b", TRIED[:3])

    assert tables()[2] == [
        ("book", 5, 510.0, 4, 3, 310.0, 1, 1),
        ("book", 0, 0.0, 4, 3, 310.0, 1, 1),
        ("find", 3, 70.0, 0, 0, 0.0, 0, 0),
    ]


def test_counters__late_word_on_a_task__tables_are_as_if_it_had_been_known(workspace: Workspace) -> None:
    finish(workspace, "b", TRIED[:2])
    task = finish(workspace, "a", TRIED)
    before = tables()

    judge_task(
        task=task, outcome=msgspec.convert({"result": "failure", "by": "human"}, OutcomeDoc), by=SYSTEM
    )
    settle()
    assert tables() == before

    make_failure(task.calls.get(seq=3), make_pattern(workspace), source="validator", detector="late")
    TaskInsight.objects.filter(task=task).update(wanted_revision=F("wanted_revision") + 1)
    settle()
    after = tables()
    SpeedCell.objects.all().delete()
    WayCell.objects.all().delete()
    RetryCell.objects.all().delete()
    TaskInsight.objects.update(counted_revision=0, contribution=b"")
    settle()
    assert tables() == after
    assert after != before


def test_counters__contribution_of_another_form__is_left_alone(workspace: Workspace) -> None:
    finish(workspace, "a", TRIED)
    before = tables()
    TaskInsight.objects.update(counted_revision=0, contribution=b"not packed")
    SpeedCell.objects.all().delete()
    WayCell.objects.all().delete()
    RetryCell.objects.all().delete()

    settle()

    assert tables() == before


@pytest.mark.parametrize("given", [{}, {"a": [1, 2], "b": {"c": None}}, {"x" * 90: "y" * 99}, {"n": 1.5e300}])
def test_counters__any_input__is_counted(workspace: Workspace, given: dict[str, Any]) -> None:
    finish(workspace, "a", [{"tool": "t", "input": given, "status": "ok", "duration_ms": 0.0}])

    assert TaskInsight.objects.get().error == ""
    assert SpeedCell.objects.filter(tool="t", n=1).count() == 2
