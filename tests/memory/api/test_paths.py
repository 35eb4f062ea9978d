"""Paths over the API: one happy path and one refusal of each."""

from typing import Any

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from memory.domain.access import Scope
from memory.models import Path
from tests.builders import make_path, make_task
from tests.conftest import Cast, api_client, make_key

BODY: dict[str, Any] = {
    "key": "flights",
    "goal": "Book a flight",
    "nodes": [{"name": "find", "tool": "find"}, {"name": "book", "tool": "book"}],
}


@pytest.fixture
def review_api(cast: Cast) -> APIClient:
    """A key that decides."""
    return api_client(make_key(cast.workspace, Scope.REVIEW, Scope.EXPERIENCE_READ, name="review"))


def url(name: str, path: Path) -> str:
    return reverse(name, args=[path.uuid])


def test_post__document__is_stored_and_shown_whole(agent_api: APIClient) -> None:
    answer = agent_api.post(reverse("api-paths"), BODY)

    assert answer.status_code == 201
    body = answer.json()
    assert (body["path"]["key"], body["path"]["origin"], body["path"]["tools"]) == (
        "path:flights v1", "hand", ["find", "book"],
    )  # fmt: skip
    assert body["document"]["edges"] == [{"from": "find", "to": "book"}]
    assert agent_api.get(reverse("api-path", args=[body["path"]["uuid"]])).json() == body


@pytest.mark.parametrize(
    ("body", "field"),
    [
        pytest.param({"goal": "x", "nodes": []}, "nodes", id="no nodes"),
        pytest.param(BODY | {"goal": 3}, "goal", id="wrong type"),
        pytest.param(BODY | {"edges": [{"from": "find", "to": "pay"}]}, "edges.0.to", id="edge to nowhere"),
        pytest.param(BODY | {"key": "x" * 300}, "key", id="long key"),
    ],
)
def test_post__wrong_document__names_the_field(
    agent_api: APIClient, body: dict[str, Any], field: str
) -> None:
    answer = agent_api.post(reverse("api-paths"), body)

    assert (answer.status_code, answer.json()["field"]) == (422, field)


def test_post__key_is_taken__is_a_conflict(agent_api: APIClient) -> None:
    agent_api.post(reverse("api-paths"), BODY)

    assert agent_api.post(reverse("api-paths"), BODY).status_code == 409


def test_post__same_idempotency_key__is_stored_once(agent_api: APIClient) -> None:
    body = {name: value for name, value in BODY.items() if name != "key"}
    answers = [agent_api.post(reverse("api-paths"), body, HTTP_IDEMPOTENCY_KEY="k") for _ in range(2)]

    assert answers[0].json() == answers[1].json()
    assert Path.objects.filter(origin="hand").count() == 1


def test_list__filters__narrow_it(cast: Cast, agent_api: APIClient) -> None:
    task = make_task(cast.workspace)
    make_path(cast.workspace, "Find 北京", ["search"], tags=("北京",), source=task, agent="a1")
    make_path(cast.workspace, "Pay", ["pay"], result="failure", reward=0.0, agent="a2")

    def goals(**asked: str) -> list[str]:
        answer = agent_api.get(reverse("api-paths"), asked)
        assert answer.status_code == 200, answer.content
        return [row["goal"] for row in answer.json()["results"]]

    assert goals(origin="run") == ["Pay", "Find 北京"]
    for asked in ({"tag": "北京"}, {"tool": "search"}, {"agent": "a1"}, {"q": "find"}):
        assert goals(**asked) == ["Find 北京"], asked
    assert goals(result="failure") == goals(status="active", result="failure") == ["Pay"]
    assert goals(level="tool") == goals(until="2020-01-01T00:00:00Z") == []
    assert goals(since="2020-01-01T00:00:00Z", origin="run") == ["Pay", "Find 北京"]


@pytest.mark.parametrize(
    "asked", [{"status": "new"}, {"since": "yesterday"}, {"parts": "maybe"}, {"q": "\0"}]
)
def test_list__unknown_filter_value__is_refused(agent_api: APIClient, asked: dict[str, str]) -> None:
    answer = agent_api.get(reverse("api-paths"), asked)

    assert (answer.status_code, answer.json()["field"]) == (422, next(iter(asked)))


def test_list__more_than_a_page__goes_on_and_does_not_ask_more(
    cast: Cast, agent_api: APIClient, django_assert_max_num_queries: Any
) -> None:
    for number in range(60):
        make_path(cast.workspace, f"goal {number}", ["find"])

    with django_assert_max_num_queries(8):
        first = agent_api.get(reverse("api-paths"), {"origin": "run"}).json()
    second = agent_api.get(first["next"]).json()

    assert (len(first["results"]), len(second["results"]), second["next"]) == (50, 10, None)


def test_versions__corrected__are_a_tree(cast: Cast, agent_api: APIClient) -> None:
    path = make_path(cast.workspace)
    document = {name: value for name, value in BODY.items() if name != "key"}
    correction = {"document": document, "base_version": 1, "reason": "better"}

    made = agent_api.post(url("api-path-versions", path), correction)
    stale = agent_api.post(url("api-path-versions", path), correction)

    assert (made.status_code, stale.status_code) == (201, 409)
    versions = agent_api.get(url("api-path-versions", path)).json()["versions"]
    assert [(row["version"], row["status"], row["parent"]) for row in versions] == [
        (1, "historical", None), (2, "active", str(path.uuid)),
    ]  # fmt: skip


def test_prompt__tokens__are_kept_to(cast: Cast, agent_api: APIClient) -> None:
    path = make_path(cast.workspace, nodes=[f"tool{number}" for number in range(200)])

    answer = agent_api.get(url("api-path-prompt", path), {"tokens": "120"}).json()

    assert answer["tokens"] <= 120
    assert answer["left_out"] > 0
    assert answer["text"].startswith("Goal: Change a flight")
    assert agent_api.get(url("api-path-prompt", path), {"tokens": "many"}).status_code == 422


@pytest.mark.parametrize(
    ("chosen", "media_type", "begins"),
    [
        ("json", "application/json", '{"nodes":[{"id":"find-1"'),
        ("graphml", "application/graphml+xml", "<?xml"),
        ("dot", "text/vnd.graphviz", "digraph path {"),
    ],
)
def test_graph__format__is_answered(
    cast: Cast, agent_api: APIClient, chosen: str, media_type: str, begins: str
) -> None:
    answer = agent_api.get(url("api-path-graph", make_path(cast.workspace)), {"format": chosen})

    assert answer.status_code == 200
    assert answer["Content-Type"].startswith(media_type)
    assert answer.content.decode().startswith(begins)


def test_graph__unknown_format__is_refused(cast: Cast, agent_api: APIClient) -> None:
    answer = agent_api.get(url("api-path-graph", make_path(cast.workspace)), {"format": "png"})

    assert (answer.status_code, answer.json()["field"]) == (422, "format")


def test_retire_and_roll_back__reviewing_key__may(cast: Cast, review_api: APIClient) -> None:
    path = make_path(cast.workspace)

    retired = review_api.post(url("api-path-retire", path), {"reason": "wrong"})
    back = review_api.post(url("api-path-rollback", path), {})

    assert (retired.json()["path"]["status"], back.json()["path"]["status"]) == ("retired", "active")


def test_retire_and_roll_back__agent_key__may_not(cast: Cast, agent_api: APIClient) -> None:
    path = make_path(cast.workspace)

    for name in ("api-path-retire", "api-path-rollback"):
        assert agent_api.post(url(name, path), {"reason": "x"}).status_code == 403


def test_import__plan_then_for_real__says_what_becomes_of_each(agent_api: APIClient) -> None:
    body = {"paths": [BODY, {"goal": "No nodes"}]}

    planned = agent_api.post(reverse("api-paths-import"), body | {"plan": True}).json()
    stored = agent_api.post(reverse("api-paths-import"), body).json()
    again = agent_api.post(reverse("api-paths-import"), body).json()

    assert (planned["counts"], planned["stored"]) == ({"new": 1, "invalid": 1}, False)
    assert stored["results"][0]["uuid"] == str(Path.objects.get(origin="import").uuid)
    assert stored["results"][1]["errors"][0]["field"] == "nodes"
    assert again["counts"] == {"same": 1, "invalid": 1}


def test_templates__switched_off__are_not_active(
    cast: Cast, admin_api: APIClient, agent_api: APIClient
) -> None:
    answer = admin_api.post(reverse("api-paths-templates"), {"enabled": False})

    assert answer.json() == {"enabled": False, "changed": 4}
    assert not Path.objects.active().filter(workspace=cast.workspace).exists()
    assert agent_api.post(reverse("api-paths-templates"), {"enabled": True}).status_code == 403
