"""``/api/v1/experiences``: what the API answers. The merge rule itself is tested below it."""

import json
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from memory.api.throttles import BUCKETS, parse_rate
from memory.domain.access import Scope
from memory.models import AuditEvent, Task
from tests.conftest import Cast, api_client, make_key
from tests.memory.builders import make_document, record

pytestmark = pytest.mark.django_db
URL = "/api/v1/experiences"


@pytest.fixture(autouse=True)
def full_buckets() -> None:
    BUCKETS.clear()


def test_post__one_document__answers_201_then_200(agent_api: APIClient) -> None:
    first = agent_api.post(URL, make_document())
    second = agent_api.post(URL, make_document())

    assert (first.status_code, first.json()["status"], first.json()["calls_added"]) == (201, "created", 2)
    assert (second.status_code, second.json()["status"]) == (200, "unchanged")
    assert first.json()["uuid"] == second.json()["uuid"] == str(Task.objects.get().uuid)


def test_post__contradiction__answers_409_with_the_field(agent_api: APIClient) -> None:
    agent_api.post(URL, make_document(agent="a"))

    answer = agent_api.post(URL, make_document(agent="b"))

    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (409, "conflict", "agent")


@pytest.mark.parametrize(
    ("document", "field"),
    [
        pytest.param({"goal": "x"}, "external_id", id="missing"),
        pytest.param(make_document(calls=[{"tool": "a"}, {"tool": 3}]), "calls.1.tool", id="type-in-a-list"),
        pytest.param(make_document(surprise=1), "surprise", id="unknown-field"),
        pytest.param(make_document(calls=[{"tool": "a", "seq": 1}] * 2), "calls.1.seq", id="seq-twice"),
        pytest.param(make_document(env={"x": "y" * 70_000}), "env", id="huge-env"),
    ],
)
def test_post__bad_document__answers_422_with_the_field_path(
    agent_api: APIClient, document: dict[str, Any], field: str
) -> None:
    answer = agent_api.post(URL, document)

    assert (answer.status_code, answer.json()["field"]) == (422, field)
    assert Task.objects.count() == 0


@pytest.mark.parametrize("body", [b"", b"{", b"3", b'"x"', b"\xff\xfe", b"[1, 2"], ids=repr)
def test_post__not_a_document__answers_422(agent_api: APIClient, body: bytes) -> None:
    assert agent_api.post(URL, body, content_type="application/json").status_code == 422


def test_post__batch__answers_207_with_a_result_for_each(agent_api: APIClient) -> None:
    documents = [make_document("a"), {"goal": "?"}, make_document("b"), make_document("a", agent="x")]

    answer = agent_api.post(URL, {"experiences": documents})

    assert answer.status_code == 207
    assert [item["status"] for item in answer.json()["results"]] == [
        "created",
        "invalid",
        "created",
        "updated",
    ]
    assert answer.json()["counts"] == {"created": 2, "invalid": 1, "updated": 1}


def test_post__batch_of_one__is_still_a_batch(agent_api: APIClient) -> None:
    assert agent_api.post(URL, {"experiences": [make_document()]}).status_code == 207
    assert agent_api.post(URL, [make_document()]).status_code == 207


def test_post__over_500_calls__answers_413_and_stores_nothing(agent_api: APIClient) -> None:
    documents = [make_document(str(n), calls=[{"tool": "t"}] * 251) for n in range(2)]

    assert agent_api.post(URL, documents).status_code == 413
    assert Task.objects.count() == 0


def test_post__over_the_byte_cap__answers_413(agent_api: APIClient, settings: Any) -> None:
    settings.MAX_BODY_BYTES = 1_000

    assert agent_api.post(URL, make_document(goal="x" * 2_000)).status_code == 413


def test_post__over_the_rate__answers_429_with_retry_after(agent_api: APIClient, settings: Any) -> None:
    settings.API_RATE = "2/min"

    answers = [agent_api.post(URL, make_document()) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [201, 200, 429]
    assert 1 <= int(answers[2]["Retry-After"]) <= 30


def test_post__database_busy__answers_503_and_says_when_to_come_back(agent_api: APIClient) -> None:
    with patch("memory.actions.record.GATE.write", side_effect=OperationalError("database is locked")):
        answer = agent_api.post(URL, make_document())

    assert (answer.status_code, answer["Retry-After"]) == (503, "1")


def test_post__without_the_scope__is_refused(cast: Cast) -> None:
    reader = api_client(make_key(cast.workspace, Scope.EXPERIENCE_READ))

    assert reader.post(URL, make_document()).status_code == 403
    assert APIClient().post(URL, make_document()).status_code == 401


FILTERS = [
    pytest.param("outcome=failure", ["b"], id="outcome"),
    pytest.param("agent=robot", ["c"], id="agent"),
    pytest.param("tag=x", ["c"], id="tag"),
    pytest.param("tag=日本", ["b"], id="tag-not-ascii"),
    pytest.param("tool=special", ["a"], id="tool"),
    pytest.param("q=PARIS", ["c"], id="text"),
    pytest.param("since=2099-01-01T00:00:00Z", [], id="since"),
    pytest.param("until=2099-01-01T00:00:00Z", ["c", "b", "a"], id="until"),
    pytest.param("external_id=a", ["a"], id="external-id"),
]


@pytest.mark.parametrize(("query", "expected"), FILTERS)
def test_list__filter__keeps_what_matches(
    cast: Cast, agent_api: APIClient, query: str, expected: list[str]
) -> None:
    record(
        cast.workspace,
        make_document("a", calls=[{"tool": "special"}]),
        make_document("b", outcome={"result": "failure"}, tags=["日本"]),
        {"external_id": "b", "tags": ["again"]},  # another way to the column, and another spelling there
        make_document("c", agent="robot", goal="Fly to Paris", tags=["xy", "x"]),
    )

    answer = agent_api.get(f"{URL}?{query}")

    assert answer.status_code == 200
    assert [task["external_id"] for task in answer.json()["results"]] == expected


def test_list__bad_filter__answers_422(agent_api: APIClient) -> None:
    assert agent_api.get(f"{URL}?since=yesterday").status_code == 422


def test_list__more_rows__same_queries_and_a_next_page(cast: Cast, agent_api: APIClient) -> None:
    agent_api.get(URL)  # the key is known from now on
    counts = []
    for number in range(2):
        record(cast.workspace, *[make_document(f"{number}-{n}") for n in range(number * 60 + 3)])
        with CaptureQueriesContext(connection) as queries:
            answer = agent_api.get(URL)
        counts.append(len(queries))

    assert counts[0] == counts[1]
    assert len(answer.json()["results"]) == 50
    assert len(agent_api.get(answer.json()["next"]).json()["results"]) == 16


def test_detail__task__has_calls_outcomes_and_pages(agent_api: APIClient) -> None:
    calls = [{"tool": "t", "input": {"n": n}} for n in range(500)]
    uuid = agent_api.post(URL, make_document(calls=calls, outcome={"result": "success"})).json()["uuid"]
    agent_api.post(URL, make_document(calls=[{"tool": "t", "seq": 500}]))

    first = agent_api.get(f"{URL}/{uuid}").json()
    last = agent_api.get(f"{URL}/{uuid}?after_seq={first['next_after_seq']}").json()

    assert (len(first["calls"]), first["next_after_seq"], first["calls"][7]["input"]) == (500, 499, {"n": 7})
    assert ([call["seq"] for call in last["calls"]], last["next_after_seq"]) == ([500], None)
    assert [outcome["result"] for outcome in first["outcomes"]] == ["success"]
    assert first["task"]["is_analysed"] is False


def test_payload__large_output__is_served_whole(agent_api: APIClient, foreign_api: APIClient) -> None:
    output = ["x" * 100] * 500
    uuid = agent_api.post(URL, make_document(calls=[{"tool": "t", "output": output}])).json()["uuid"]
    digest = agent_api.get(f"{URL}/{uuid}").json()["calls"][0]["output"]["$payload"]

    assert json.loads(agent_api.get(f"/api/v1/payloads/{digest}").json()["body"]) == output
    assert foreign_api.get(f"/api/v1/payloads/{digest}").status_code == 404


def test_judge__human_over_agent__counts_and_is_audited(
    cast: Cast, agent_api: APIClient, admin_api: APIClient
) -> None:
    uuid = agent_api.post(URL, make_document(outcome={"result": "success"}, final=True)).json()["uuid"]
    said = {"result": "failure", "by": "human", "note": "Wrong date"}

    first = admin_api.post(f"{URL}/{uuid}/outcomes", said)
    second = admin_api.post(f"{URL}/{uuid}/outcomes", said)
    agent_api.post(f"{URL}/{uuid}/outcomes", {"result": "success", "by": "evaluator"})

    task = agent_api.get(f"{URL}/{uuid}").json()["task"]
    assert (first.status_code, second.status_code) == (201, 200)
    assert (task["outcome"], task["outcome_by"]) == ("failure", "human")
    event = AuditEvent.objects.get(verb="judge_task")
    assert (event.old["outcome"], event.new["outcome"]) == ("success", "failure")


def test_outcome__agent_calls_itself_human__is_refused_and_stores_nothing(agent_api: APIClient) -> None:
    said = {"result": "success", "by": "human"}
    uuid = agent_api.post(URL, make_document()).json()["uuid"]

    judged = agent_api.post(f"{URL}/{uuid}/outcomes", said)
    recorded = agent_api.post(URL, make_document(external_id="t2", outcome=said))

    assert (judged.status_code, judged.json()["code"]) == (403, "permission_denied")
    assert (recorded.status_code, recorded.json()["field"]) == (422, "outcome.by")
    assert "needs the scope review" in recorded.json()["errors"][0]["detail"]
    assert [task["external_id"] for task in agent_api.get(URL).json()["results"]] == ["t1"]


def test_judge__bad_outcome__answers_422_with_the_field(agent_api: APIClient) -> None:
    uuid = agent_api.post(URL, make_document()).json()["uuid"]

    answer = agent_api.post(f"{URL}/{uuid}/outcomes", {"result": "maybe"})

    assert (answer.status_code, answer.json()["field"]) == (422, "result")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        pytest.param("get", "", id="detail"),
        pytest.param("post", "/outcomes", id="outcomes"),
    ],
)
def test_task__of_another_workspace_or_guessed__is_not_there(
    cast: Cast, agent_api: APIClient, foreign_api: APIClient, method: str, path: str
) -> None:
    uuid = agent_api.post(URL, make_document()).json()["uuid"]

    for client, target in ((foreign_api, uuid), (agent_api, uuid4())):
        body = {"result": "failure"} if method == "post" else None
        assert getattr(client, method)(f"{URL}/{target}{path}", body).status_code == 404
    assert foreign_api.get(URL).json()["results"] == []
    assert Task.objects.get().outcome == "unknown"


def test_post__same_external_id_in_another_workspace__touches_nothing_here(
    agent_api: APIClient, foreign_api: APIClient
) -> None:
    agent_api.post(URL, make_document(agent="a"))

    assert foreign_api.post(URL, make_document(agent="b")).status_code == 201
    assert agent_api.post(URL, make_document(agent="a")).json()["status"] == "unchanged"


@pytest.mark.parametrize("text", ["60", "0/min", "x/min", "60/year"])
def test_parse_rate__nonsense__is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"rate|float"):
        parse_rate(text)
