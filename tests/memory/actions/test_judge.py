"""``judge_task``: append-only, the strongest source counts."""

import pytest

from memory.actions.judge import judge_task
from memory.domain.access import NotPermitted
from memory.domain.experience import OutcomeDoc
from memory.models import AuditEvent, Task
from tests.conftest import Cast
from tests.memory.builders import make_document, record

pytestmark = pytest.mark.django_db


def test_judge_task__mind_changed_and_changed_back__is_heard_each_time(cast: Cast) -> None:
    record(cast.workspace, make_document(outcome={"result": "success"}))
    task = Task.objects.get()

    changes = [
        judge_task(task=task, outcome=OutcomeDoc(result=result), by=cast.actor("reviewer"))
        for result in ("failure", "failure", "success", "failure")
    ]

    assert changes == [True, False, True, True]
    assert (task.outcome, task.outcome_by, task.analysed_at) == ("failure", "human", None)
    assert [row.result for row in task.outcomes.all()] == ["success", "failure", "success", "failure"]
    assert AuditEvent.objects.filter(verb="judge_task").count() == 3


def test_judge_task__weaker_source__is_kept_but_does_not_count(cast: Cast) -> None:
    record(cast.workspace, make_document())
    task = Task.objects.get()
    judge_task(task=task, outcome=OutcomeDoc(result="success", by="agent"), by=cast.actor("reviewer"))

    record(cast.workspace, {"external_id": "t1", "outcome": {"result": "failure", "by": "evaluator"}})

    task.refresh_from_db()
    assert (task.outcome, task.outcome_by, task.outcomes.count()) == ("success", "human", 2)


def test_judge_task__secret_in_the_note__is_redacted(cast: Cast) -> None:
    record(cast.workspace, make_document())
    task = Task.objects.get()

    judge_task(
        task=task,
        outcome=OutcomeDoc(result="failure", note="mail bob@example.org"),
        by=cast.actor("reviewer"),
    )

    assert "bob@" not in task.outcomes.get().note


@pytest.mark.parametrize("role", ["viewer", "outsider"])
def test_judge_task__without_the_right__is_refused(cast: Cast, role: str) -> None:
    record(cast.elsewhere if role == "viewer" else cast.workspace, make_document())
    actor = cast.actor("viewer" if role == "viewer" else "owner")
    task = Task.objects.get()
    if role == "outsider":
        record(cast.elsewhere, make_document())
        task = Task.objects.get(workspace=cast.elsewhere)

    with pytest.raises(NotPermitted):
        judge_task(task=task, outcome=OutcomeDoc(result="failure"), by=actor)
