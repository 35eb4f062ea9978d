"""Localizations over the API: read them, say what was taken, review the sample."""

from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from memory.background.uses import settle_backlog
from memory.domain.access import Scope
from memory.models import AuditEvent, Localization, PathUse
from tests.builders import make_localization, make_path, make_task
from tests.conftest import Cast, api_client, make_key

URL = "/api/v1/localizations"
HOSTILE = "<script>alert(1)</script> \0 {{ 7*7 }} ada@example.com"


def feedback(api: APIClient, row: Localization, **body: Any) -> Any:
    return api.post(f"{URL}/{row.uuid}/feedback", body)


def test_list__filters__narrow_newest_first(cast: Cast, agent_api: APIClient) -> None:
    path = make_path(cast.workspace)
    first = make_localization(cast.workspace, path, task_name="t1")
    second = make_localization(cast.workspace, sampled=True)
    make_localization(cast.elsewhere)

    def uuids(query: str = "") -> list[str]:
        answer = agent_api.get(f"{URL}{query}")
        assert answer.status_code == 200, answer.content
        return [row["uuid"] for row in answer.json()["results"]]

    assert uuids() == [str(second.uuid), str(first.uuid)]
    assert uuids("?kind=nothing") == uuids("?sampled=true") == [str(second.uuid)]
    assert uuids("?task=t1") == [str(first.uuid)]
    assert uuids("?outcome=success") == []
    assert agent_api.get(f"{URL}?kind=never").status_code == 422


def test_list__more_rows__costs_the_same(cast: Cast, agent_api: APIClient) -> None:
    path = make_path(cast.workspace)
    counts = []
    for _ in range(2):
        for _ in range(3):
            make_localization(cast.workspace, path, taken=path)
        with CaptureQueriesContext(connection) as queries:
            agent_api.get(URL)
        counts.append(len(queries))

    assert counts[0] == counts[1]


def test_detail__localization__has_question_answer_and_what_came_of_it(
    cast: Cast, agent_api: APIClient
) -> None:
    path = make_path(cast.workspace)
    row = make_localization(cast.workspace, path, task_name="t1", weights={"tags": 0.4})

    body = agent_api.get(f"{URL}/{row.uuid}").json()

    assert body["candidates"][0]["path"] == str(path.uuid)
    assert (body["goal"], body["task"], body["taken"], body["outcome"]) == (row.goal, "t1", None, "unknown")


def test_feedback__path_taken__is_one_use_however_often_it_is_said(cast: Cast, agent_api: APIClient) -> None:
    path = make_path(cast.workspace, reward=0.0)
    row = make_localization(cast.workspace, path, task_name="t1")

    answers = [feedback(agent_api, row, taken=str(path.uuid)).json() for _ in range(2)]

    assert answers[0] == answers[1]
    assert answers[0]["localization"]["taken"] == str(path.uuid)
    assert answers[0]["use"]["path"] == str(path.uuid)
    assert answers[0]["use"]["task"] == "t1"
    assert PathUse.objects.count() == 1


def test_feedback__task_known_only_now__ties_the_localization_to_it(cast: Cast, agent_api: APIClient) -> None:
    path = make_path(cast.workspace, reward=0.0)
    make_task(cast.workspace, "t9", outcome="success")
    row = make_localization(cast.workspace, path)

    body = feedback(agent_api, row, taken=str(path.uuid), task="t9").json()
    settle_backlog()

    assert (body["localization"]["task"], body["localization"]["outcome"]) == ("t9", "success")
    path.refresh_from_db()
    assert (path.use_count, path.success_count) == (1, 1)


def test_feedback__nothing_taken__is_noted_without_a_use(cast: Cast, agent_api: APIClient) -> None:
    row = make_localization(cast.workspace, make_path(cast.workspace), task_name="t1")

    assert feedback(agent_api, row, taken=None).json()["use"] is None
    assert not PathUse.objects.exists()


def test_feedback__second_path_in_the_same_task__is_a_use_of_its_own(
    cast: Cast, agent_api: APIClient
) -> None:
    first, second = make_path(cast.workspace), make_path(cast.workspace)
    row = make_localization(cast.workspace, first, second, task_name="t1")

    feedback(agent_api, row, taken=str(first.uuid), result="failure")
    feedback(agent_api, row, taken=str(second.uuid))

    row.refresh_from_db()
    assert row.taken == second
    uses = PathUse.objects.order_by("pk").values_list("path", "said_result")
    assert list(uses) == [(first.pk, "failure"), (second.pk, "unknown")]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        pytest.param({}, "taken", id="nothing said"),
        pytest.param({"taken": "seven"}, "taken", id="no uuid"),
        pytest.param({"taken": str(uuid4()), "task": "t"}, "taken", id="unknown path"),
        pytest.param({"taken": "foreign", "task": "t"}, "taken", id="path of another workspace"),
        pytest.param({"taken": "own"}, "task", id="no task"),
        pytest.param({"taken": None, "result": "success"}, "result", id="result of nothing"),
        pytest.param({"taken": "own", "task": "t", "result": "great"}, "result", id="unknown result"),
        pytest.param({"taken": "own", "task": "t", "reward": 2}, "reward", id="reward out of range"),
        pytest.param({"taken": "own", "task": "t", "reward": 0.5}, "result", id="reward without result"),
        pytest.param({"taken": "own", "task": "x" * 201}, "task", id="long task"),
    ],
)
def test_feedback__bad_body__names_the_field_and_changes_nothing(
    cast: Cast, agent_api: APIClient, body: dict[str, Any], field: str
) -> None:
    paths = {"own": make_path(cast.workspace), "foreign": make_path(cast.elsewhere)}
    row = make_localization(cast.workspace)
    if body.get("taken") in paths:
        body = body | {"taken": str(paths[body["taken"]].uuid)}

    answer = feedback(agent_api, row, **body)

    assert (answer.status_code, answer.json()["field"]) == (422, field), answer.content
    assert not PathUse.objects.exists()


def test_feedback__key_that_only_reads__is_refused(cast: Cast) -> None:
    api = api_client(make_key(cast.workspace, Scope.RULES_READ, Scope.EXPERIENCE_READ))

    assert feedback(api, make_localization(cast.workspace), taken=None).status_code == 403


def test_review__verdict__is_kept_with_an_audit_event_and_can_be_changed(cast: Cast) -> None:
    api = api_client(make_key(cast.workspace, Scope.REVIEW))
    path, missed = make_path(cast.workspace), make_path(cast.workspace)
    row = make_localization(cast.workspace, path, sampled=True)
    url = f"{URL}/{row.uuid}/review"

    first = api.post(url, {"verdict": "right", "relevant": [str(path.uuid)], "note": HOSTILE})
    second = api.post(url, {"verdict": "wrong", "relevant": [str(missed.uuid)]})

    assert first.json()["relevant"] == [str(path.uuid)]
    assert "ada@example.com" not in first.json()["review_note"]
    assert (second.json()["verdict"], second.json()["relevant"]) == ("wrong", [str(missed.uuid)])
    events = AuditEvent.objects.filter(verb="review_localization").order_by("pk")
    assert [event.new["verdict"] for event in events] == ["right", "wrong"]
    assert events[1].old["verdict"] == "right"


@pytest.mark.parametrize(
    ("body", "sampled", "field"),
    [
        pytest.param({"verdict": "great"}, True, "verdict", id="unknown verdict"),
        pytest.param({"verdict": "right", "relevant": [str(uuid4())]}, True, "relevant", id="unknown path"),
        pytest.param({"verdict": "right"}, False, "", id="not in the sample"),
    ],
)
def test_review__bad_body__is_refused(
    cast: Cast, admin_api: APIClient, body: dict[str, Any], sampled: bool, field: str
) -> None:
    row = make_localization(cast.workspace, sampled=sampled)

    answer = admin_api.post(f"{URL}/{row.uuid}/review", body)

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)
    row.refresh_from_db()
    assert row.verdict == ""


def test_review__agents_key__is_refused(cast: Cast, agent_api: APIClient) -> None:
    row = make_localization(cast.workspace, sampled=True)

    assert agent_api.post(f"{URL}/{row.uuid}/review", {"verdict": "right"}).status_code == 403
