"""What paths learn from the tasks that followed them: once, late, corrected, by many workers."""

import threading
from typing import Any

import pytest
from django.db import connection

from memory.actions.judge import judge_task
from memory.actions.localizations import report_reuse
from memory.background import uses
from memory.background.analyse import analyse_backlog
from memory.background.outcomes import mark_stragglers
from memory.background.uses import settle_backlog
from memory.domain.experience import OutcomeDoc
from memory.domain.rewards import RATE
from memory.models import Localization, Path, PathUse, RewardChange, RewriteProposal, Task, Workspace
from memory.permissions import SYSTEM
from memory.queries.health import list_unsettled
from memory.writer.paths import set_status
from tests.builders import NOW, make_localization, make_path, make_task
from tests.conftest import Cast
from tests.memory.builders import make_document, record


def use(path: Path, task: str = "t1", **said: Any) -> Localization:
    """An agent asked for ``task`` and followed the path."""
    localization = make_localization(path.workspace, path, task_name=task)
    report_reuse(localization=localization, taken=path.uuid, by=SYSTEM, **said)
    return localization


def end(workspace: Workspace, task: str = "t1", result: str = "success", **outcome: Any) -> None:
    """The task is recorded with its outcome, and the worker has looked at it."""
    record(workspace, make_document(task, final=True, outcome={"result": result, **outcome}))
    work()


def judge(workspace: Workspace, task: str, result: str, reward: float | None = None) -> None:
    row = Task.objects.get(workspace=workspace, external_id=task)
    judge_task(task=row, outcome=OutcomeDoc(result=result, reward=reward, by="human"), by=SYSTEM)
    work()


def work() -> None:
    analyse_backlog()
    settle_backlog()


def state(path: Path) -> tuple[int, int, float]:
    path.refresh_from_db()
    return path.use_count, path.success_count, round(path.reward, 6)


@pytest.mark.parametrize(
    ("result", "outcome", "expected"),
    [
        pytest.param("success", {}, (1, 1, 0.5 + RATE * 0.5), id="success"),
        pytest.param("failure", {}, (1, 0, 0.5 - RATE * 0.5), id="failure"),
        pytest.param("success", {"reward": 0.6}, (1, 1, 0.5 + RATE * 0.1), id="reward"),
        pytest.param("success", {"reward": 70}, (1, 1, 0.5 + RATE * 0.5), id="reward on another scale"),
    ],
)
def test_settle__task_ends__path_learns_once(
    cast: Cast, result: str, outcome: dict[str, Any], expected: tuple[int, int, float]
) -> None:
    path = make_path(cast.workspace, reward=0.5)
    localization = use(path)
    work()
    assert state(path) == (0, 0, 0.5)

    end(cast.workspace, result=result, **outcome)
    work()

    assert state(path) == expected
    localization.refresh_from_db()
    assert (localization.outcome, localization.task.external_id) == (result, "t1")
    change = RewardChange.objects.get()
    assert (change.cause, change.old, change.new) == ("use", 0.5, path.reward)
    assert change.task == localization.task
    assert "t1" in change.reason


def test_settle__reported_after_the_task_ended__learns_too(cast: Cast) -> None:
    path = make_path(cast.workspace, reward=0.0)
    end(cast.workspace)

    localization = use(path)
    assert localization.outcome == "success"
    work()

    assert state(path) == (1, 1, RATE)


def test_settle__task_judged_otherwise_later__is_put_right_as_if_it_had_been_known(cast: Cast) -> None:
    path, other = make_path(cast.workspace, reward=0.5), make_path(cast.workspace, reward=0.5)
    for name, result in (("t1", "success"), ("t2", "failure"), ("t3", "success")):
        use(path, name)
        end(cast.workspace, name, result)
    for name, result in (("o1", "failure"), ("o2", "failure"), ("o3", "success")):
        use(other, name)
        end(cast.workspace, name, result)

    judge(cast.workspace, "t1", "failure")

    assert state(path) == state(other)
    assert PathUse.objects.get(task_name="t1").result == "failure"
    assert Localization.objects.get(task_name="t1").outcome == "failure"
    assert "corrected" in RewardChange.objects.latest("pk").reason


@pytest.mark.parametrize(
    ("said", "ended", "expected"),
    [
        pytest.param({"result": "failure"}, "success", "failure", id="path failed, task solved otherwise"),
        pytest.param({"result": "success"}, "failure", "failure", id="outcome overrules"),
        pytest.param({"result": "success", "reward": 0.4}, None, "success", id="agent alone"),
    ],
)
def test_settle__agent_said_a_result__counts_as_documented(
    cast: Cast, said: dict[str, Any], ended: str | None, expected: str
) -> None:
    path = make_path(cast.workspace, reward=0.5)
    use(path, **said)
    work()
    if ended:
        end(cast.workspace, result=ended)

    row = PathUse.objects.get()
    assert (row.result, path.uses.count()) == (expected, 1)
    assert state(path)[:2] == (1, int(expected == "success"))
    if ended is None:
        assert row.reward == 0.4


def test_settle__first_use_of_a_pending_path__decides_its_result(cast: Cast) -> None:
    path = make_path(cast.workspace, result="pending", reward=0.1)
    use(path)
    end(cast.workspace)
    path.refresh_from_db()
    assert path.result == "success"

    use(path, "t2")
    end(cast.workspace, "t2", "failure")
    path.refresh_from_db()
    assert path.result == "success"

    judge(cast.workspace, "t1", "failure")
    path.refresh_from_db()
    assert path.result == "failure"


def test_settle__template__is_counted_but_keeps_its_place(cast: Cast) -> None:
    path = make_path(cast.workspace, result="template", reward=0.0)
    use(path)
    end(cast.workspace)

    assert state(path) == (1, 1, 0.0)
    assert path.result == "template"
    assert not RewardChange.objects.exists()


def test_settle__success__ends_the_row_of_fruitless_rewrites(cast: Cast) -> None:
    path = make_path(cast.workspace)
    type(path.lineage).objects.update(fruitless_rewrites=2)
    use(path, "t1")
    end(cast.workspace, "t1", "failure")
    path.lineage.refresh_from_db()
    assert path.lineage.fruitless_rewrites == 2

    use(path, "t2")
    end(cast.workspace, "t2", "success")

    path.lineage.refresh_from_db()
    assert path.lineage.fruitless_rewrites == 0


def test_settle__failed_reuse__asks_for_a_rewrite_with_what_went_wrong(cast: Cast) -> None:
    path = make_path(cast.workspace, reward=0.2)
    localization = use(path)
    end(cast.workspace, result="failure")
    work()

    proposal = RewriteProposal.objects.get()
    assert (proposal.path, proposal.trigger, proposal.localization) == (path, "reuse", localization)
    assert proposal.task.external_id == "t1"
    assert "No seat" in proposal.request["reason"]


def test_settle__reuse_of_an_old_version_fails__asks_for_nothing(cast: Cast) -> None:
    path = make_path(cast.workspace)
    use(path)
    set_status(path, "retire", now=NOW)
    end(cast.workspace, result="failure")

    assert state(path)[:2] == (1, 0)
    assert not RewriteProposal.objects.exists()


def test_settle__one_use_cannot_be_settled__the_others_are(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = make_path(cast.workspace, reward=0.2), make_path(cast.workspace, reward=0.2)
    wanted = uses.want_rewrite

    def broken(path: Path, **why: Any) -> Any:
        if path == bad:
            raise ValueError("broken")
        return wanted(path, **why)

    monkeypatch.setattr(uses, "want_rewrite", broken)
    use(bad, "t1", result="failure")
    use(good, "t2", result="failure")

    settle_backlog()

    assert (state(bad)[0], state(good)[0]) == (0, 1)
    assert not PathUse.objects.filter(is_due=True).exists()
    assert [(one.path, one.error) for one in list_unsettled(cast.workspace.pk)] == [
        (bad, "ValueError: broken")
    ]

    monkeypatch.setattr(uses, "want_rewrite", wanted)
    PathUse.objects.filter(path=bad).update(is_due=True)
    settle_backlog()
    assert (state(bad)[0], list_unsettled(cast.workspace.pk)) == (1, [])


def test_settle__same_task_name_elsewhere__is_another_task(cast: Cast) -> None:
    path = make_path(cast.workspace, reward=0.5)
    use(path)

    end(cast.elsewhere)

    assert state(path) == (0, 0, 0.5)
    assert Localization.objects.get().outcome == "unknown"


def test_mark_stragglers__task_ended_unseen__is_found(cast: Cast) -> None:
    path = make_path(cast.workspace, reward=0.0)
    use(path)
    make_task(cast.workspace, "t1", outcome="success")  # looked at already
    make_localization(cast.workspace, path, task_name="never recorded")
    work()
    assert state(path)[0] == 0

    assert mark_stragglers() == 1
    work()

    assert state(path) == (1, 1, RATE)
    assert sorted(Localization.objects.values_list("outcome", flat=True)) == ["success", "unknown"]


@pytest.mark.django_db(transaction=True)
def test_settle__two_workers_at_once__each_use_counts_once(cast: Cast) -> None:
    paths = [make_path(cast.workspace, reward=0.5) for _ in range(3)]
    for number in range(60):
        use(paths[number % 3], f"t{number}", result="success" if number % 2 else "failure")
    errors: list[Exception] = []

    def run() -> None:
        try:
            settle_backlog(batch=7)
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert errors == []
    assert [state(path)[:2] for path in paths] == [(20, 10)] * 3
    assert RewardChange.objects.count() == 60
    assert not PathUse.objects.filter(is_due=True).exists()
    for path in paths:
        changes = list(path.reward_changes.order_by("pk").values_list("old", "new"))
        assert [new for _, new in changes[:-1]] == [old for old, _ in changes[1:]]
        assert changes[-1][1] == path.reward
