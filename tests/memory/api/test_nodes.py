"""Nodes over the API: list, look, merge, take apart."""

from uuid import uuid4

import pytest
from rest_framework.test import APIClient

from memory.domain.access import Scope
from memory.models import Node
from tests.conftest import Cast, api_client, make_key
from tests.memory.builders import make_node

pytestmark = pytest.mark.django_db


@pytest.fixture
def review_api(cast: Cast) -> APIClient:
    """A key that reviews."""
    return api_client(make_key(cast.workspace, Scope.REVIEW, Scope.EXPERIENCE_READ, name="reviewer"))


def contents(api: APIClient, query: str) -> list[str]:
    answer = api.get(f"/api/v1/nodes?{query}")
    assert answer.status_code == 200, answer.json()
    return [node["content"] for node in answer.json()["results"]]


def test_nodes__each_filter__narrows_the_list(cast: Cast, review_api: APIClient) -> None:
    first = make_node(cast.workspace, "first", tool="book")
    make_node(cast.workspace, "second", kind="decision", merged_into=first)
    make_node(cast.elsewhere, "foreign")

    assert contents(review_api, "")[:2] == ["second", "first"]
    assert contents(review_api, "tool=book") == ["first"]
    assert contents(review_api, "kind=decision")[:1] == ["second"]
    assert contents(review_api, "q=SECO") == ["second"]
    assert contents(review_api, "merged=yes") == ["second"]
    assert contents(review_api, "merged=no")[:1] == ["first"]


def test_nodes__more_than_a_page__go_on_at_next(cast: Cast, review_api: APIClient) -> None:
    for number in range(52):
        make_node(cast.workspace, f"walk-{number:02}")

    first = review_api.get("/api/v1/nodes?q=walk-").json()
    rest = review_api.get(first["next"]).json()

    assert len(first["results"]) == 50
    assert [node["content"] for node in rest["results"]] == ["walk-01", "walk-00"]
    assert rest["next"] is None


def test_merge__and_unmerge__are_seen_on_the_node(cast: Cast, review_api: APIClient) -> None:
    keep, other = make_node(cast.workspace, "keep"), make_node(cast.workspace, "other")

    merged = review_api.post(
        "/api/v1/nodes/merge", {"keep": str(keep.uuid), "nodes": [str(other.uuid)]}, format="json"
    )
    assert (merged.status_code, merged.json()["moved"]) == (200, [str(other.uuid)])
    assert review_api.get(f"/api/v1/nodes/{keep.uuid}").json()["same_as"] == [str(other.uuid)]

    alone = review_api.post(f"/api/v1/nodes/{other.uuid}/unmerge", {"reason": "no"}, format="json")
    assert (alone.status_code, alone.json()["merged_into"], alone.json()["same_as"]) == (200, None, [])


@pytest.mark.parametrize(
    ("nodes", "status"),
    [
        pytest.param([], 422, id="none"),
        pytest.param(["{keep}"], 422, id="only-itself"),
        pytest.param(["{foreign}"], 422, id="foreign"),
        pytest.param([str(uuid4())], 422, id="unknown"),
        pytest.param("x", 422, id="no-list"),
    ],
)
def test_merge__bad_request__is_refused_with_the_field(
    cast: Cast, review_api: APIClient, nodes: list[str], status: int
) -> None:
    keep, foreign = make_node(cast.workspace, "keep"), make_node(cast.elsewhere, "foreign")
    chosen = [one.format(keep=keep.uuid, foreign=foreign.uuid) for one in nodes]

    answer = review_api.post("/api/v1/nodes/merge", {"keep": str(keep.uuid), "nodes": chosen}, format="json")

    assert (answer.status_code, answer.json()["field"].split(".")[0]) == (status, "nodes")
    assert not Node.objects.exclude(merged_into=None).exists()


def test_merge__key_without_review__is_refused(cast: Cast, agent_api: APIClient) -> None:
    answer = agent_api.post("/api/v1/nodes/merge", {"keep": str(uuid4()), "nodes": []}, format="json")

    assert answer.status_code == 403
