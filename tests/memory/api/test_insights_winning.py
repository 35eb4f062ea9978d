"""Sequences and weak spots over the API."""

import pytest
from rest_framework.test import APIClient

from memory.models import Path
from tests.builders import make_task
from tests.conftest import Cast
from tests.memory.winning_scenes import make_kind, make_sequence, make_spot

pytestmark = pytest.mark.django_db


def test_sequences__list__numbers_examples_and_the_kind(cast: Cast, agent_api: APIClient) -> None:
    task = make_task(cast.workspace, "t1", outcome="success")
    row = make_sequence(cast.workspace, "find", "book", held_by=(task,), missed=3)
    make_sequence(cast.elsewhere, "foreign", "way")

    body = agent_api.get("/api/v1/insights/sequences").json()

    assert (body["succeeded"], body["failed"], body["next"]) == (60, 40, None)
    (one,) = body["results"]
    assert (one["uuid"], one["tools"], one["verdict"]) == (str(row.uuid), ["find", "book"], "winning")
    assert (one["tasks"], one["most_tasks"], one["support"]) == (22, 25, pytest.approx(20 / 60))
    assert one["examples"] == [{"task": str(task.uuid), "external_id": "t1", "succeeded": True}]
    assert one["template"] is None


def test_sequences__more_than_a_page__go_on_at_next(cast: Cast, agent_api: APIClient) -> None:
    for number in range(35):
        make_sequence(cast.workspace, f"a{number}", "b", strength=1 + number / 100, tasks=50 - number)

    for show in ("winning", "all"):
        first = agent_api.get(f"/api/v1/insights/sequences?show={show}").json()
        rest = agent_api.get(first["next"]).json()
        found = [one["uuid"] for one in first["results"] + rest["results"]]
        assert (len(first["results"]), len(set(found)), rest["next"]) == (30, 35, None)


def test_sequences__filters__narrow_the_list(cast: Cast, agent_api: APIClient) -> None:
    make_sequence(cast.workspace, "few", "b", tasks=6, won=5, lost=1, verdict="unclear")
    make_sequence(cast.workspace, "tagged", "b", kind=make_kind(cast.workspace, "tag:trip"))

    def tools(query: str) -> list[str]:
        rows = agent_api.get(f"/api/v1/insights/sequences?{query}").json()["results"]
        return [row["tools"][0] for row in rows]

    assert tools("kind=tag:trip") == ["tagged"]
    assert tools("kind=tag:none") == []
    assert tools("show=losing") == []
    assert tools("show=all") == ["few"]
    assert tools("show=all&least=7") == []


def test_template__made__then_409(cast: Cast, agent_api: APIClient) -> None:
    row = make_sequence(cast.workspace, "find", "book")
    url = f"/api/v1/insights/sequences/{row.uuid}/template"

    first = agent_api.post(url, {"goal": "Book a seat", "tags": ["trip"]}, format="json")
    second = agent_api.post(url, {"goal": "Book"}, format="json")

    assert (first.status_code, second.status_code) == (201, 409)
    assert [node["tool"] for node in first.json()["document"]["nodes"]] == ["find", "book"]
    assert "a template path already" in second.json()["detail"]
    listed = agent_api.get("/api/v1/insights/sequences").json()["results"][0]["template"]
    assert listed == str(Path.objects.get(goal="Book a seat").uuid)


def test_weak_spots__list_and_one__patterns_and_bonds(cast: Cast, agent_api: APIClient) -> None:
    spot = make_spot(cast.workspace)
    make_spot(cast.elsewhere)
    make_spot(cast.workspace, status="resolved")

    rows = agent_api.get("/api/v1/insights/weak-spots").json()["results"]
    one = agent_api.get(f"/api/v1/insights/weak-spots/{spot.uuid}").json()

    assert [row["uuid"] for row in rows] == [str(spot.uuid)]
    assert one["spot"] == rows[0]
    assert rows[0]["bursts"] == ["2025-11-24T17:00:00Z", "2025-11-24T16:00:00Z"]
    assert {pattern["tool"] for pattern in one["patterns"]} == set(spot.tools)
    (bond,) = one["bonds"]
    assert (bond["bond"], bond["word"]) == ("identifier", "user_id")
    assert {bond["one"], bond["other"]} == {pattern["uuid"] for pattern in one["patterns"]}
