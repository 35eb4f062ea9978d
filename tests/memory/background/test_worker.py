"""A real worker, really killed: nothing lost, nothing doubled."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from hgmem.periodic import Periodic
from hgmem_site.celery import app
from memory.actions.record import record_experience
from memory.background import bell
from memory.background.analyse import analyse_backlog
from memory.background.bell import send
from memory.models import DailyCount, ErrorPattern, Failure, PatternLink, Task, Tool, Workspace
from memory.permissions import SYSTEM
from tests.servers import Process, free_port, start_celery, start_redis, start_worker, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker]
TASKS = 400
CALLS = 20


def make_runs(workspace: Workspace) -> None:
    """Tasks with four kinds of failure, recorded in batches."""
    for start in range(0, TASKS, 20):
        documents = [make_run(number) for number in range(start, start + 20)]
        results = record_experience(workspace_id=workspace.pk, documents=documents, by=SYSTEM)
        assert {item.status for item in results} == {"created"}


def make_run(number: int) -> dict[str, Any]:
    calls = [{"tool": f"tool{n % 3}", "input": {"n": n}, "status": "ok"} for n in range(CALLS - 1)]
    wrong = {"message": f"Unknown column 'c{number % 4}'"}
    calls.append({"tool": "sql", "input": {"q": f"c{number % 4}"}, "status": "error", "error": wrong})
    return {
        "external_id": f"run-{number:04}",
        "goal": "x",
        "env": {"domain": "shop"},
        "calls": calls,
        "final": True,
    }


def expect_exact_counts() -> None:
    """Every figure there is, compared with what was recorded."""
    assert Task.objects.filter(analysed_at=None).count() == 0
    assert not Task.objects.exclude(analysis_error="").exists()
    assert Failure.objects.count() == TASKS == Failure.objects.values("task").distinct().count()
    assert Failure.objects.filter(repeat=True).count() == TASKS - 4
    patterns = ErrorPattern.objects.values_list("occurrence_count", "task_count", "first_task__external_id")
    assert sorted(patterns) == [(TASKS // 4, TASKS // 4, f"run-{n:04}") for n in range(4)]
    assert sum(DailyCount.objects.values_list("calls", flat=True)) == TASKS * CALLS
    assert sum(DailyCount.objects.values_list("failures", flat=True)) == TASKS
    assert sum(DailyCount.objects.values_list("repeats", flat=True)) == TASKS - 4
    assert sum(Tool.objects.values_list("call_count", flat=True)) == TASKS * CALLS
    assert Tool.objects.get(name="sql").failure_count == TASKS
    pairs = list(PatternLink.objects.values_list("pattern", "other"))
    assert len(pairs) == len(set(pairs))


def count_left() -> int:
    return Task.objects.filter(analysed_at=None).count()


@contextmanager
def ringing(var: Path, redis_url: str = "") -> Iterator[None]:
    """This process rings at the broker of the worker under test."""
    queue = var / "broker" / "queue"
    queue.mkdir(parents=True, exist_ok=True)
    folders = {"data_folder_in": str(queue), "data_folder_out": str(queue), "store_processed": False}
    folders["control_folder"] = str(var / "broker" / "control")
    old = app.conf.broker_write_url, app.conf.broker_transport_options
    app.conf.broker_write_url = redis_url or "filesystem://"
    app.conf.broker_transport_options = {} if redis_url else folders
    try:
        yield
    finally:
        app.conf.broker_write_url, app.conf.broker_transport_options = old


@pytest.fixture(params=["filesystem", pytest.param("redis", marks=pytest.mark.redis)])
def redis_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The broker: the folder, or a real Redis."""
    if request.param == "filesystem":
        yield ""
        return
    with start_redis() as url:
        yield url


def kill_in_the_middle(worker: Process) -> None:
    """SIGKILL when some tasks are done and some are not."""
    wait_until(lambda: count_left() < TASKS, process=worker)
    worker.kill()
    assert 0 < count_left() < TASKS, "the worker was too fast to be killed in the middle"


def test_worker__killed_in_the_middle__another_one_finishes_exactly(
    workspace: Workspace, tmp_path: Path, redis_url: str
) -> None:
    make_runs(workspace)
    environment = {"REDIS_URL": redis_url} if redis_url else {}
    with ringing(tmp_path, redis_url):
        with start_worker(var=tmp_path, **environment) as first:
            send()
            kill_in_the_middle(first)
        with start_worker(var=tmp_path, **environment) as second:
            send()
            wait_until(lambda: count_left() == 0, process=second)

    expect_exact_counts()


def test_sweep__no_bell_was_rung__finds_the_backlog(workspace: Workspace, tmp_path: Path) -> None:
    make_runs(workspace)

    with start_worker(var=tmp_path) as worker, start_celery("beat", var=tmp_path):
        wait_until(lambda: count_left() == 0, process=worker)

    expect_exact_counts()


def test_analyse__many_at_once__count_everything_once(workspace: Workspace) -> None:
    make_runs(workspace)
    errors: list[Exception] = []

    def run() -> None:
        try:
            while count_left():
                analyse_backlog()
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert errors == []
    expect_exact_counts()


def test_record__broker_is_away__is_recorded_all_the_same(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Periodic, "enabled", True)
    monkeypatch.setattr(bell, "PAUSE_S", 0.0)
    monkeypatch.setitem(app.conf, "broker_write_url", f"redis://127.0.0.1:{free_port()}/0")
    monkeypatch.setitem(app.conf, "broker_transport_options", {})

    try:
        make_runs(workspace)
        wait_until(lambda: bell.BELL.failing)
    finally:
        bell.BELL.stop()

    assert count_left() == TASKS


def test_bell__nobody_listens__does_not_fill_the_queue(tmp_path: Path) -> None:
    with ringing(tmp_path):
        for _ in range(bell.ENOUGH_WAITING * 2):
            send()

    assert len(list((tmp_path / "broker" / "queue").iterdir())) == bell.ENOUGH_WAITING
