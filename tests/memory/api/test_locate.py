"""``paths/locate`` over HTTP: what an agent gets, what is refused, what it costs."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from memory.background.analyse import analyse_backlog
from memory.background.uses import settle_backlog
from memory.domain.access import Scope
from memory.models import Localization
from tests.builders import make_path
from tests.conftest import Cast, api_client, make_key
from tests.memory.builders import make_document

URL = "/api/v1/paths/locate"
GOAL = "Cancel the reservation of Ada and refund the ticket"


def test_locate__goal__answers_whole_paths_with_their_parts(cast: Cast, agent_api: APIClient) -> None:
    path = make_path(cast.workspace, GOAL, ["find", "cancel"])
    failed = make_path(cast.workspace, GOAL, ["cancel"], result="failure", reward=0.0)

    answer = agent_api.post(URL, {"goal": GOAL, "prompt_tokens": 300})

    assert answer.status_code == 200, answer.content
    body = answer.json()
    assert body["kind"] == "found"
    best = body["paths"][0]
    assert (best["path"], best["goal"], best["result"], best["uses"]) == (str(path.uuid), GOAL, "success", 0)
    assert [node["tool"] for node in best["document"]["nodes"]] == ["find", "cancel"]
    assert best["document"]["edges"] == [{"from": "find-1", "to": "cancel-2"}]
    assert [item["path"] for item in body["avoid"]] == [str(failed.uuid)]
    assert body["avoid"][0]["went_wrong"]
    assert "cancel" in body["prompt"]["text"]
    assert Localization.objects.get().uuid.hex == body["localization"].replace("-", "")


def test_locate__then_feedback_and_outcome__path_has_learnt(cast: Cast, agent_api: APIClient) -> None:
    path = make_path(cast.workspace, GOAL, reward=0.5)
    asked = agent_api.post(URL, {"goal": GOAL, "task": "t1"}).json()
    url = f"/api/v1/localizations/{asked['localization']}/feedback"
    agent_api.post(url, {"taken": asked["paths"][0]["path"]})
    agent_api.post(
        "/api/v1/experiences", make_document("t1", final=True, outcome={"result": "success", "by": "agent"})
    )
    analyse_backlog()
    settle_backlog()

    best = agent_api.post(URL, {"goal": GOAL}).json()["paths"][0]
    assert best["path"] == str(path.uuid)
    assert (best["uses"], best["successes"], best["reward"]) == (1, 1, 0.65)


def test_locate__path_of_another_workspace__is_not_answered(
    cast: Cast, agent_api: APIClient, foreign_api: APIClient
) -> None:
    make_path(cast.workspace, GOAL)

    assert agent_api.post(URL, {"goal": GOAL}).json()["kind"] == "found"
    assert foreign_api.post(URL, {"goal": GOAL}).json()["paths"] == []
    assert Localization.objects.filter(workspace=cast.elsewhere).count() == 1


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        pytest.param(b"{", 400, None, id="no JSON"),
        pytest.param(b'{"goal": "\\ud800 x"}', 400, None, id="lone surrogate"),
        pytest.param(b"[]", 422, None, id="a list"),
        pytest.param(b"{}", 422, "goal", id="nothing asked"),
        pytest.param(b'{"goal": "x", "top_k": "three"}', 422, "top_k", id="top_k of a wrong type"),
        pytest.param(b'{"goal": "x", "limit": 3}', 422, "limit", id="unknown field"),
        pytest.param(
            b'{"goal": "x", "env": ' + b'{"a":' * 90 + b"1" + b"}" * 90 + b"}", 422, None, id="deep"
        ),
        pytest.param(b'{"goal": "x", "env": {"n": 1e999}}', 400, None, id="no number"),
        pytest.param(b'{"goal": "' + b"x" * 300_000 + b'"}', 413, None, id="too large"),
    ],
)
def test_locate__bad_body__is_refused_in_the_one_shape(
    agent_api: APIClient, body: bytes, status: int, field: str | None
) -> None:
    answer = agent_api.generic("POST", URL, body, content_type="application/json")

    assert answer.status_code == status, answer.content
    assert {"code", "detail"} <= answer.json().keys()
    if field is not None:
        assert answer.json()["field"] == field
    assert not Localization.objects.exists()


@pytest.mark.parametrize(
    "goal",
    [
        pytest.param("\0 nul", id="nul"),
        pytest.param("<script>alert(1)</script> {{ 7*7 }}", id="markup"),
        pytest.param("' OR 1=1; DROP TABLE memory_path; --", id="sql"),
        pytest.param("漢字 🙂 \u202e", id="unicode"),
        pytest.param("%s %d {} \\ ' \"", id="format characters"),
    ],
)
def test_locate__hostile_goal__is_only_text(cast: Cast, agent_api: APIClient, goal: str) -> None:
    make_path(cast.workspace, GOAL)

    answer = agent_api.post(URL, {"goal": goal, "tags": [goal], "nodes": [goal], "filters": {"tool": goal}})

    assert answer.status_code == 200, answer.content
    row = Localization.objects.get()
    assert row.goal == goal.replace("\0", "\ufffd")


def test_locate__integer_beyond_64_bits__is_kept_whole(agent_api: APIClient) -> None:
    answer = agent_api.post(URL, {"goal": GOAL, "env": {"n": 10**30}})

    assert answer.status_code == 200, answer.content
    assert Localization.objects.get().query["env"] == {"n": 10**30}


def test_locate__key_without_the_scope__answers_403(cast: Cast) -> None:
    api = api_client(make_key(cast.workspace, Scope.EXPERIENCE_WRITE))

    assert api.post(URL, {"goal": GOAL}).status_code == 403


def test_locate__get__answers_405(agent_api: APIClient) -> None:
    assert agent_api.get(URL).status_code == 405


def test_locate__too_many__answers_429(agent_api: APIClient, settings: Any) -> None:
    settings.QUERY_RATE = "1/min"

    answers = [agent_api.post(URL, {"goal": GOAL}) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 429]


def test_locate__more_paths__costs_the_same_queries(cast: Cast, agent_api: APIClient) -> None:
    counts = []
    for _ in range(2):
        for number in range(5):
            make_path(cast.workspace, f"{GOAL} {number}")
        agent_api.post(URL, {"goal": GOAL, "top_k": 20})
        with CaptureQueriesContext(connection) as queries:
            agent_api.post(URL, {"goal": GOAL, "top_k": 20})
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 20, counts
