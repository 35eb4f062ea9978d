"""Paths of finished tasks: built once, said anew when outcomes come late, never in each other's way."""

import threading
from typing import Any

import msgspec
import pytest
from django.db import connection
from django.db.models import Count, F

from memory.actions.judge import judge_task
from memory.actions.record import record_experience
from memory.background import paths
from memory.background.analyse import analyse_backlog
from memory.background.paths import build_backlog, waiting_builds
from memory.domain.experience import OutcomeDoc
from memory.domain.paths.document import PathDoc
from memory.models import Outcome, Path, PathBuild, PathEntry, RewardChange, Step, Task, ToolCall, Workspace
from memory.permissions import SYSTEM
from memory.queries.health import count_waiting_paths, list_unbuilt
from memory.queries.path_documents import read_path
from memory.writer.paths import NewPath, add_version
from tests.builders import NOW, make_doc

BROKEN = {"message": "Unknown column 'name'"}
CALLS = [
    {"tool": "sql", "input": {"q": "select name from t"}, "status": "error", "error": BROKEN},
    {"tool": "describe", "input": {"table": "t"}, "output": ["title"], "status": "ok"},
    {"tool": "sql", "input": {"q": "select title from t"}, "output": ["A"], "status": "ok"},
]


@pytest.fixture
def workspace(db: None) -> Workspace:
    """A workspace without templates."""
    return Workspace.objects.create(slug="bare", name="Bare")


def record(workspace: Workspace, name: str = "t", result: str = "success", **fields: Any) -> Task:
    """A recorded and analysed task."""
    document = {"external_id": name, "goal": "List titles", "calls": CALLS, "final": True, **fields}
    if result:
        document["outcome"] = {"result": result, "by": "environment"}
    record_experience(workspace_id=workspace.pk, documents=[document], by=SYSTEM)
    while analyse_backlog():  # on a busy machine the time of one turn may be too short
        pass
    return Task.objects.get(external_id=name)


def say(task: Task, result: str) -> None:
    """A person says how it ended; the worker hears of it."""
    outcome = msgspec.convert({"result": result, "by": "human"}, OutcomeDoc)
    judge_task(task=task, outcome=outcome, by=SYSTEM)
    analyse_backlog()
    build_backlog()


def results() -> dict[str, tuple[str, str, float]]:
    """Whole paths by key: result, status, reward."""
    rows = Path.objects.filter(span_start=None)
    return {row.key: (row.result, row.status, row.reward) for row in rows}


def test_build__finished_task__has_its_walk_and_the_way_without_detour(workspace: Workspace) -> None:
    task = record(workspace)

    assert build_backlog() == 1

    assert results() == {"task:t v1": ("retry", "active", 0.8), "success:t v1": ("success", "active", 1.0)}
    walk = Path.objects.get(key="task:t v1")
    assert (walk.source, walk.origin, walk.tools) == (task, "run", ["sql", "describe"])
    assert [node.name for node in read_path(walk).nodes] == ["sql", "error", "prepare", "describe", "sql_2"]
    assert PathEntry.objects.count() == Path.objects.count()


def test_build__again__changes_nothing(workspace: Workspace) -> None:
    task = record(workspace)
    build_backlog()
    before = list(Path.objects.order_by("pk").values())

    PathBuild.objects.filter(task=task).update(built_revision=0)
    build_backlog()

    assert list(Path.objects.order_by("pk").values()) == before


def test_build__task_that_is_not_final__waits(workspace: Workspace) -> None:
    record(workspace, final=False, result="")

    assert (build_backlog(), Path.objects.count(), PathBuild.objects.count()) == (0, 0, 0)


def test_build__outcome_comes_late__is_said_on_the_same_version(workspace: Workspace) -> None:
    task = record(workspace, result="", calls=CALLS[1:])
    build_backlog()
    assert results() == {"task:t v1": ("pending", "active", 0.1)}

    say(task, "success")

    assert results() == {"task:t v1": ("success", "active", 1.0)}
    assert list(RewardChange.objects.values_list("old", "new", "cause")) == [(0.1, 1.0, "built")]


def test_build__success_turns_out_to_be_a_failure__retires_the_clean_way(workspace: Workspace) -> None:
    task = record(workspace)
    build_backlog()

    say(task, "failure")
    assert results() == {"task:t v1": ("failure", "active", 0.0), "success:t v1": ("success", "retired", 1.0)}

    say(task, "success")
    assert results() == {"task:t v1": ("retry", "active", 0.8), "success:t v1": ("success", "active", 1.0)}


def test_build__somebody_corrected_the_path__their_version_stays(workspace: Workspace) -> None:
    task = record(workspace, calls=CALLS[1:])
    build_backlog()
    walk = Path.objects.get(key="task:t v1")
    add_version(lineage=walk.lineage, new=NewPath(doc=make_doc("mine"), origin="hand"), now=NOW)

    say(task, "failure")

    assert results() == {
        "task:t v1": ("failure", "historical", 0.0), "task:t v2": ("success", "active", 1.0),
    }  # fmt: skip


@pytest.mark.parametrize("order", [("root", "nested"), ("nested", "root")])
def test_build__nested_task__hangs_under_its_root(workspace: Workspace, order: tuple[str, str]) -> None:
    for name in order:
        record(workspace, name, calls=CALLS[1:], root_task="root")
        build_backlog()

    nested = Path.objects.get(key="task:nested v1")
    assert (nested.level, nested.container and nested.container.key) == ("subtask", "task:root v1")
    assert read_path(Path.objects.get(key="task:root v1")).parts == ()


def test_build__evidence__is_only_read(workspace: Workspace) -> None:
    record(workspace)
    before = [list(model.objects.values()) for model in (Task, ToolCall, Step, Outcome)]  # type: ignore[attr-defined]

    build_backlog()

    assert [list(model.objects.values()) for model in (Task, ToolCall, Step, Outcome)] == before  # type: ignore[attr-defined]


def test_build__poison_task__is_marked_and_holds_nobody_up(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, _ = record(workspace, "bad"), record(workspace, "good")
    real = paths.build_paths

    def poisoned(run: Any) -> Any:
        if run.external_id == "bad":
            raise ValueError("cannot be")
        return real(run)

    monkeypatch.setattr(paths, "build_paths", poisoned)

    build_backlog()

    assert not waiting_builds().exists()
    assert PathBuild.objects.get(task=bad).error == "ValueError: cannot be"
    assert set(results()) == {"task:good v1", "success:good v1"}


def test_health__path_backlog_and_poison__are_shown(workspace: Workspace) -> None:
    bad = record(workspace, "bad")
    assert count_waiting_paths(workspace.pk) == 1
    paths.mark_unbuilt(PathBuild.objects.get(task=bad), "ValueError: no")

    assert count_waiting_paths(workspace.pk) == 0
    assert [row.task for row in list_unbuilt(workspace.pk)] == [bad]


def test_build__huge_task__reads_both_ends_only(workspace: Workspace) -> None:
    calls = [{"tool": f"tool{n}", "input": {"n": n}, "status": "ok"} for n in range(450)]
    record(workspace, calls=calls)

    build_backlog()

    doc: PathDoc = read_path(Path.objects.get(key="task:t v1"))
    shown = sum(len(node.details.get("seq", [])) for node in doc.nodes)
    left = sum(node.details.get("left_out", 0) for node in doc.nodes)
    assert (doc.nodes[0].tool, doc.nodes[-1].tool, shown + left) == ("tool0", "tool449", 450)


@pytest.mark.django_db(transaction=True)
def test_build__many_at_once__every_version_is_made_once() -> None:
    workspace = Workspace.objects.create(slug="bare", name="Bare")
    for start in range(0, 120, 40):
        documents = [
            {"external_id": f"t{n}", "goal": f"List {n}", "calls": CALLS, "final": True,
             "outcome": {"result": "success", "by": "environment"}}
            for n in range(start, start + 40)
        ]  # fmt: skip
        record_experience(workspace_id=workspace.pk, documents=documents, by=SYSTEM)
    while analyse_backlog():
        pass
    errors: list[Exception] = []

    def work() -> None:
        try:
            while waiting_builds().exists():
                build_backlog()
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert errors == []
    expect_exact_paths(120)


def expect_exact_paths(tasks: int) -> None:
    """Two whole paths of each task, one version each, with all of their nodes and an index entry."""
    assert not PathBuild.objects.exclude(error="").exists()
    assert PathBuild.objects.filter(built_revision=F("wanted_revision")).count() == tasks
    whole = Path.objects.filter(span_start=None, origin="run")
    assert (whole.count(), whole.values("source").distinct().count()) == (2 * tasks, tasks)
    assert set(whole.values_list("version", "status")) == {(1, "active")}
    uneven = Path.objects.annotate(steps_there=Count("steps")).exclude(steps_there=F("node_count"))
    assert not uneven.exists()
    assert PathEntry.objects.count() == Path.objects.count()
