"""The review inbox over the API."""

import pytest
from rest_framework.test import APIClient

from memory.domain.access import Scope
from memory.models import RewriteProposal
from tests.conftest import Cast, api_client, make_key
from tests.corrections.inbox_scenes import build_inbox
from tests.memory.builders import make_alert, make_rewrite

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(cast: Cast) -> APIClient:
    """An agent's key that may review."""
    return api_client(make_key(cast.workspace, Scope.REVIEW, Scope.EXPERIENCE_READ))


def test_items__one_of_every_kind__are_listed_with_their_decisions(cast: Cast, api: APIClient) -> None:
    build_inbox(cast.workspace)

    answer = api.get("/api/v1/review/items").json()

    assert [row["kind"] for row in answer["results"]] == [
        "canary", "stale", "impact", "alert", "conflict", "change", "proposal", "rewrite",
    ]  # fmt: skip
    assert answer["results"][-1]["decisions"] == ["approve", "reject"]
    assert sum(answer["counts"].values()) == 8


def test_items__of_no_kind__is_refused_with_the_kinds(cast: Cast, api: APIClient) -> None:
    answer = api.get("/api/v1/review/items?kind=nothing")

    assert (answer.status_code, answer.json()["field"]) == (422, "kind")


def test_decide__some_possible__does_them_and_tells_the_rest(cast: Cast, api: APIClient) -> None:
    good, stale = make_rewrite(cast.workspace), make_rewrite(cast.workspace)
    foreign = make_rewrite(cast.elsewhere)
    rows = [{"kind": "rewrite", "uuid": str(row.uuid)} for row in (good, stale, foreign)]
    rows[1]["revision"] = 5

    answer = api.post(
        "/api/v1/review/decide", {"items": rows, "do": "reject", "reason": "Known."}, format="json"
    ).json()

    assert answer["decided"] == 1
    assert {row["uuid"] for row in answer["refused"]} == {str(stale.uuid), str(foreign.uuid)}
    found = [RewriteProposal.objects.get(pk=row.pk).status for row in (good, stale, foreign)]
    assert found == ["rejected", "proposed", "proposed"]


def test_decide__without_a_reason__is_refused(cast: Cast, api: APIClient) -> None:
    rows = [{"kind": "rewrite", "uuid": str(make_rewrite(cast.workspace).uuid)}]

    answer = api.post("/api/v1/review/decide", {"items": rows, "do": "approve"}, format="json")

    assert (answer.status_code, answer.json()["field"]) == (422, "reason")


def test_assign__member_then_stranger__is_given_and_refused(cast: Cast, api: APIClient) -> None:
    items = [{"kind": "alert", "uuid": str(make_alert(cast.workspace).uuid)}]

    given = api.post(
        "/api/v1/review/assign", {"items": items, "assignee": str(cast.reviewer.uuid)}, format="json"
    )
    refused = api.post(
        "/api/v1/review/assign", {"items": items, "assignee": str(cast.outsider.uuid)}, format="json"
    )

    assert (given.json(), refused.status_code) == ({"assigned": 1}, 422)
    assert api.get("/api/v1/review/items").json()["results"][0]["assignee"] == "reviewer"
    assert api.get("/api/v1/review/items?assigned=nobody").json()["results"] == []


def test_comments__said__are_listed(cast: Cast, api: APIClient) -> None:
    url = f"/api/v1/review/alert/{make_alert(cast.workspace).uuid}/comments"

    said = api.post(url, {"text": "I look at it tomorrow."}, format="json")

    assert said.status_code == 201
    assert [row["text"] for row in api.get(url).json()] == ["I look at it tomorrow."]


def test_decide__change_without_its_revision__is_refused(cast: Cast, api: APIClient) -> None:
    change = build_inbox(cast.workspace)["change"]
    rows = [{"kind": "change", "uuid": str(change.uuid)}]

    answer = api.post(
        "/api/v1/review/decide", {"items": rows, "do": "approve", "reason": "Fine."}, format="json"
    ).json()

    assert (answer["decided"], "revision" in answer["refused"][0]["detail"]) == (0, True)
