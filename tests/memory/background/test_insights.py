"""The insight pass: every revision counts once, whatever dies, races or is broken."""

import threading
from collections import Counter as Tally
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.actions.judge import judge_task
from memory.actions.record import record_experience
from memory.background.analyse import analyse_backlog
from memory.background.insights import counting
from memory.background.insights.counting import count_backlog, count_batch, waiting_insights
from memory.domain.experience import OutcomeDoc
from memory.domain.insights.contributions import JSON
from memory.domain.insights.runs import InsightRun
from memory.models import Task, TaskInsight, Workspace
from memory.permissions import SYSTEM
from tests.memory.builders import make_document


class Ledger:
    """A counter whose table is a tally of outcomes by workspace."""

    NAME = "ledger"

    def __init__(self) -> None:
        self.rows: Tally[tuple[int, str]] = Tally()
        self.runs: list[InsightRun] = []
        self.broken_for = ""
        self.unwritable = ""

    def contribute(self, run: InsightRun) -> JSON | None:
        self.runs.append(run)
        if run.external_id == self.broken_for:
            raise ValueError("unreadable")
        return {"outcome": run.outcome, "name": run.external_id}

    def apply(self, workspace_id: int, removed: Sequence[JSON], added: Sequence[JSON]) -> None:
        if self.unwritable in {part["name"] for part in added}:
            raise RuntimeError("cannot be written")
        for sign, parts in ((-1, removed), (1, added)):
            for part in parts:
                self.rows[workspace_id, part["outcome"]] += sign

    def counts(self, workspace: Workspace) -> dict[str, int]:
        return {outcome: n for (home, outcome), n in self.rows.items() if n and home == workspace.pk}


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """The only counter."""
    counter = Ledger()
    monkeypatch.setattr(counting, "COUNTERS", (counter,))
    return counter


def finish(workspace: Workspace, *names: str, result: str = "success", **fields: Any) -> list[Task]:
    """Recorded, finished, analysed tasks."""
    outcome = {"result": result, "by": "environment"}
    documents = [make_document(name, final=True, outcome=outcome, **fields) for name in names]
    record_experience(workspace_id=workspace.pk, documents=documents, by=SYSTEM)
    while analyse_backlog():
        pass
    return list(Task.objects.filter(external_id__in=names).order_by("pk"))


def say(task: Task, result: str) -> None:
    """A person says how it ended; the analysis hears of it."""
    judge_task(task=task, outcome=msgspec.convert({"result": result, "by": "human"}, OutcomeDoc), by=SYSTEM)
    analyse_backlog()


def test_pass__finished_tasks__are_counted_once(workspace: Workspace, ledger: Ledger) -> None:
    finish(workspace, "a", "b")
    finish(workspace, "c", result="failure")

    assert (count_backlog(), count_backlog()) == (3, 0)

    assert ledger.counts(workspace) == {"success": 2, "failure": 1}
    assert not waiting_insights().exists()


def test_pass__task_that_is_not_final__is_not_counted(workspace: Workspace, ledger: Ledger) -> None:
    record_experience(workspace_id=workspace.pk, documents=[make_document("open")], by=SYSTEM)
    analyse_backlog()

    assert (count_backlog(), TaskInsight.objects.count()) == (0, 0)


def test_pass__snapshot__has_calls_failures_and_what_was_said(workspace: Workspace, ledger: Ledger) -> None:
    finish(workspace, "a", tags=["flight"], agent="bot", env={"domain": "airline"}, result="failure")

    count_backlog()

    run = ledger.runs[0]
    assert (run.tags, run.agent, run.domain, run.outcome) == (("flight",), "bot", "airline", "failure")
    assert [(call.tool, call.input, call.status, call.duration_ms, call.failed) for call in run.calls] == [
        ("search", {"q": "flights"}, "ok", 12.5, False),
        ("book", {"id": 7}, "error", None, True),
    ]
    by_call = {failure.seq: (failure.tool, failure.source) for failure in run.failures}
    assert by_call[1] == ("book", "explicit")
    assert run.calls[1].patterns == tuple(f.pattern for f in run.failures if f.seq == 1)


def test_pass__outcome_changes_later__old_contribution_is_taken_away(
    workspace: Workspace, ledger: Ledger
) -> None:
    (task, _other) = finish(workspace, "a", "b")
    count_backlog()

    say(task, "failure")
    count_backlog()
    assert ledger.counts(workspace) == {"success": 1, "failure": 1}

    say(task, "success")
    count_backlog()
    assert ledger.counts(workspace) == {"success": 2}


def test_pass__killed_while_it_writes__counts_once_in_the_end(
    workspace: Workspace, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish(workspace, "a")

    def die(*_args: Any, **_more: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(counting, "update_rows", die)
        with pytest.raises(KeyboardInterrupt):
            count_backlog()
    ledger.rows.clear()  # its table would have been rolled back with the rest
    assert TaskInsight.objects.get().counted_revision == 0

    count_backlog()
    assert ledger.counts(workspace) == {"success": 1}


def test_pass__counter_cannot_read_a_task__says_so_and_holds_nothing_up(
    workspace: Workspace, ledger: Ledger
) -> None:
    ledger.broken_for = "b"
    finish(workspace, "a", "b", "c")

    assert count_backlog() == 3

    assert ledger.counts(workspace) == {"success": 2}
    assert TaskInsight.objects.exclude(error="").get().error == "ledger: ValueError: unreadable"
    ledger.broken_for = ""
    say(Task.objects.get(external_id="b"), "failure")
    count_backlog()
    assert ledger.counts(workspace) == {"success": 2, "failure": 1}
    assert not TaskInsight.objects.exclude(error="").exists()


def test_pass__task_cannot_be_written__is_marked_and_the_others_count(
    workspace: Workspace, ledger: Ledger
) -> None:
    ledger.unwritable = "b"
    finish(workspace, "a", "b", "c")

    assert count_backlog() == 3

    assert ledger.counts(workspace) == {"success": 2}
    row = TaskInsight.objects.exclude(error="").get()
    assert (row.task.external_id, row.error) == ("b", "RuntimeError: cannot be written")
    assert not waiting_insights().exists()


def test_pass__two_workspaces__take_turns(cast: Any, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "BATCH_TASKS", 1)
    finish(cast.workspace, "a", "b", "c")
    finish(cast.elsewhere, "d")

    count_backlog()

    assert [run.external_id for run in ledger.runs] == ["a", "d", "b", "c"]
    assert (ledger.counts(cast.workspace), ledger.counts(cast.elsewhere)) == ({"success": 3}, {"success": 1})


def test_pass__more_tasks__no_more_queries(workspace: Workspace, ledger: Ledger) -> None:
    counts = []
    for names in (["a"], [f"b{n}" for n in range(20)]):
        finish(workspace, *names)
        with CaptureQueriesContext(connection) as queries:
            count_batch(workspace.pk)
        counts.append(len(queries))

    assert counts[1] == counts[0]


@pytest.mark.django_db(transaction=True)
def test_pass__two_workers_at_once__count_each_task_once(ledger: Ledger) -> None:
    workspace = Workspace.objects.create(slug="acme", name="Acme")
    finish(workspace, *[f"t{n}" for n in range(30)])
    start = threading.Barrier(2)

    def work() -> None:
        start.wait()
        try:
            while count_backlog(deadline_s=20.0):
                pass
        finally:
            connection.close()

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    count_backlog()

    assert ledger.counts(workspace) == {"success": 30}
    assert not waiting_insights().exists()
