"""What reviewers do: judge tasks, set patterns aside."""

import pytest

from memory.models import AuditEvent
from tests.builders import make_outcome, make_pattern, make_task
from tests.conftest import Cast, page_client


def test_judge__reviewer__outranks_the_evaluator(cast: Cast) -> None:
    task = make_task(cast.workspace, outcome="success", outcome_by="evaluator")
    make_outcome(task, "success")

    answer = page_client(cast.reviewer).post(
        f"/w/acme/tasks/{task.uuid}/judge/", {"result": "failure", "note": "Wrong flight"}, follow=True
    )

    task.refresh_from_db()
    assert (task.outcome, task.outcome_by) == ("failure", "human")
    assert "Wrong flight" in answer.text
    assert AuditEvent.objects.filter(verb="judge_task").count() == 1


@pytest.mark.parametrize(("role", "status"), [("viewer", 403), ("outsider", 404), ("reviewer", 302)])
def test_judge__role__decides(cast: Cast, role: str, status: int) -> None:
    task = make_task(cast.workspace)

    answer = page_client(getattr(cast, role)).post(f"/w/acme/tasks/{task.uuid}/judge/", {"result": "success"})

    assert answer.status_code == status


def test_judge__nonsense__says_what_to_say(cast: Cast) -> None:
    task = make_task(cast.workspace)

    answer = page_client(cast.reviewer).post(
        f"/w/acme/tasks/{task.uuid}/judge/", {"result": "maybe"}, follow=True
    )

    assert "success or a failure" in answer.text
    assert task.outcomes.count() == 0


def test_triage__ignored_and_reopened__with_reasons_in_the_audit(cast: Cast) -> None:
    pattern = make_pattern(cast.workspace)
    client, url = page_client(cast.reviewer), f"/w/acme/patterns/{pattern.uuid}/triage/"

    client.post(url, {"step": "ignore", "reason": "known outage"})
    pattern.refresh_from_db()
    assert pattern.status == "ignored"
    client.post(url, {"step": "reopen", "reason": "it is back"})
    pattern.refresh_from_db()

    assert pattern.status == "open"
    reasons = AuditEvent.objects.filter(subject_uuid=str(pattern.uuid)).order_by("pk")
    assert list(reasons.values_list("reason", flat=True)) == ["known outage", "it is back"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param({"step": "ignore"}, "Say why", id="no-reason"),
        pytest.param({"step": "reopen", "reason": "x"}, "reopened", id="not-possible-now"),
        pytest.param({"step": "explode", "reason": "x"}, "Say why", id="unknown-step"),
    ],
)
def test_triage__refused__says_why(cast: Cast, given: dict[str, str], said: str) -> None:
    pattern = make_pattern(cast.workspace)

    answer = page_client(cast.reviewer).post(f"/w/acme/patterns/{pattern.uuid}/triage/", given, follow=True)

    assert said in answer.text
    pattern.refresh_from_db()
    assert pattern.status == "open"
