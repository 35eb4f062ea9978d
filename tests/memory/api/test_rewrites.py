"""Rewrites over the API: from the wish to the new version, and each refusal once."""

from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from memory.background.drafting import draft_backlog
from memory.domain.access import Scope
from memory.models import Alert, RewriteProposal
from tests.builders import make_path, make_task
from tests.conftest import Cast, api_client, make_key
from tests.memory.rewrites import DRIVE, REFUEL, make_failed_path, make_proposal, make_success

pytestmark = pytest.mark.django_db
NO_FUEL = {"action": "create_rewrite", "new_nodes": ["start"], "reason": "There is fuel."}


@pytest.fixture
def review_api(cast: Cast) -> APIClient:
    """A key that may decide."""
    return api_client(make_key(cast.workspace, Scope.REVIEW, Scope.EXPERIENCE_READ, name="reviewer"))


def test_rewrites__asked_drafted_approved_rolled_back__over_the_api(
    cast: Cast, agent_api: APIClient, admin_api: APIClient
) -> None:
    make_success(cast.workspace)
    path = make_failed_path(cast.workspace)
    task = make_task(cast.workspace, "run-1")

    asked = agent_api.post(
        f"/api/v1/paths/{path.uuid}/rewrites", {"reason": "The door was open.", "task": "run-1"}
    )
    assert asked.status_code == 202, asked.data
    assert (asked.data["status"], asked.data["trigger"], asked.data["task"]) == (
        "queued",
        "api",
        str(task.uuid),
    )
    draft_backlog()
    url = f"/api/v1/rewrites/{asked.data['uuid']}"
    drafted = agent_api.get(url).data
    assert (drafted["status"], drafted["rewriter"], drafted["guard"]["passed"]) == ("proposed", "align", True)
    assert set(drafted["proposal"]) == {
        "action", "new_nodes", "new_edges", "new_tags", "reason", "keep_old",
    }  # fmt: skip

    approved = admin_api.post(f"{url}/approve", {"revision": drafted["revision"]})
    assert approved.status_code == 200, approved.data
    assert approved.data["rewrite"]["status"] == "approved"
    assert (approved.data["path"]["version"], approved.data["path"]["status"]) == (2, "active")

    back = admin_api.post(f"/api/v1/paths/{path.uuid}/rollback", {})
    path.refresh_from_db()
    assert (back.status_code, path.version, path.status) == (200, 1, "active")


def test_request__the_same_key_twice__asks_once(cast: Cast, agent_api: APIClient) -> None:
    url = f"/api/v1/paths/{make_failed_path(cast.workspace).uuid}/rewrites"

    answers = [agent_api.post(url, {"reason": "x"}, headers={"Idempotency-Key": "k1"}) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [202, 202]
    assert answers[0].data["uuid"] == answers[1].data["uuid"]
    assert RewriteProposal.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        pytest.param({}, "reason", id="no reason"),
        pytest.param({"reason": "x" * 2_001}, "reason", id="too long"),
        pytest.param({"reason": "x", "rewriter": "gpt"}, "rewriter", id="an unknown rewriter"),
        pytest.param({"reason": "x", "task": "nowhere"}, "task", id="an unknown task"),
    ],
)
def test_request__unacceptable_wish__names_the_field(
    cast: Cast, agent_api: APIClient, body: dict[str, Any], field: str
) -> None:
    answer = agent_api.post(f"/api/v1/paths/{make_failed_path(cast.workspace).uuid}/rewrites", body)

    assert (answer.status_code, answer.data["field"]) == (422, field)


def test_request__template__is_a_conflict(cast: Cast, agent_api: APIClient) -> None:
    path = make_path(cast.workspace, result="template", reward=0.0)

    answer = agent_api.post(f"/api/v1/paths/{path.uuid}/rewrites", {"reason": "x"})

    assert (answer.status_code, answer.data["detail"]) == (409, "A template is not rewritten.")


def test_list__filters_and_pages__and_the_queries_stay_the_same(
    cast: Cast, agent_api: APIClient, django_assert_max_num_queries: Any
) -> None:
    path = make_failed_path(cast.workspace)
    proposals = [make_proposal(path, status) for status in ("proposed", "rejected", "given_up")]
    make_proposal(make_failed_path(cast.workspace), "needs_human")

    def uuids(query: str) -> list[str]:
        return [row["uuid"] for row in agent_api.get(f"/api/v1/rewrites{query}").data["results"]]

    assert len(uuids("")) == 4
    assert uuids(f"?status=open&path={path.uuid}") == [str(proposals[2].uuid), str(proposals[0].uuid)]
    assert uuids("?status=rejected") == [str(proposals[1].uuid)]
    assert uuids("?trigger=reuse") == []
    assert agent_api.get("/api/v1/rewrites?status=lost").status_code == 422
    first = agent_api.get("/api/v1/rewrites?page_size=3").data
    assert len(first["results"]) == 3
    assert len(agent_api.get(first["next"]).data["results"]) == 1
    with django_assert_max_num_queries(2):
        uuids("")
    for _ in range(5):
        make_proposal(path)
    with django_assert_max_num_queries(2):
        uuids("")


def test_edit_and_reject__by_a_reviewer__are_kept(cast: Cast, review_api: APIClient) -> None:
    proposal = make_proposal(make_failed_path(cast.workspace))
    url = f"/api/v1/rewrites/{proposal.uuid}"

    edited = review_api.post(f"{url}/edit", {"revision": 1, "document": NO_FUEL})
    stale = review_api.post(f"{url}/approve", {"revision": 1})
    refused = review_api.post(f"{url}/reject", {"reason": " "})
    rejected = review_api.post(f"{url}/reject", {"reason": "No."})
    again = review_api.post(f"{url}/reject", {"reason": "No."})

    assert (edited.status_code, edited.data["edited"]["reason"]) == (200, "There is fuel.")
    assert edited.data["proposal"]["reason"] == "Lock the doors first."
    assert (stale.status_code, "you have seen 1" in stale.data["detail"]) == (409, True)
    assert (refused.status_code, refused.data["field"]) == (422, "reason")
    assert (rejected.status_code, rejected.data["status"], rejected.data["decided_by"]) == (
        200, "rejected", "reviewer",
    )  # fmt: skip
    assert again.status_code == 409


def test_edit__document_that_cannot_be_applied__names_every_field(cast: Cast, review_api: APIClient) -> None:
    proposal = make_proposal(make_failed_path(cast.workspace))
    document = {"new_nodes": ["moon", "start"], "reason": "", "new_edges": [{"from": "start", "to": "sun"}]}

    answer = review_api.post(f"/api/v1/rewrites/{proposal.uuid}/edit", {"revision": 1, "document": document})

    assert answer.status_code == 422
    assert {"document.new_nodes.0", "document.reason", "document.new_edges.0.to"} <= {
        row["field"] for row in answer.data["errors"]
    }


def test_approve__paths_to_carry_along__get_a_version_too(cast: Cast, review_api: APIClient) -> None:
    other = make_path(cast.workspace, "Go shopping", (REFUEL, DRIVE))
    proposal = make_proposal(make_failed_path(cast.workspace))
    url = f"/api/v1/rewrites/{proposal.uuid}"
    edited = review_api.post(f"{url}/edit", {"revision": 1, "document": NO_FUEL}).data
    assert edited["touched"][0]["paths"][0]["uuid"] == str(other.uuid)

    wrong = review_api.post(f"{url}/approve", {"revision": 2, "carry": [str(uuid4())]})
    right = review_api.post(f"{url}/approve", {"revision": 2, "carry": [str(other.uuid)]})

    assert (wrong.status_code, wrong.data["field"]) == (422, "carry")
    assert right.status_code == 200
    assert other.lineage.versions.count() == 2


def test_retry__given_up__is_queued_again(cast: Cast, review_api: APIClient) -> None:
    proposal = make_proposal(make_failed_path(cast.workspace), "given_up")

    answer = review_api.post(f"/api/v1/rewrites/{proposal.uuid}/retry", {"rewriter": "align"})

    assert (answer.status_code, answer.data["status"], answer.data["revision"]) == (202, "queued", 2)


def test_decide__agents_key__may_not(cast: Cast, agent_api: APIClient) -> None:
    url = f"/api/v1/rewrites/{make_proposal(make_failed_path(cast.workspace)).uuid}"

    answers = {
        agent_api.post(f"{url}/{verb}", {"revision": 1, "reason": "x"}).status_code
        for verb in ("approve", "reject", "edit", "retry")
    }

    assert answers == {403}


def test_policy__read_and_changed__by_an_admin_only(
    cast: Cast, agent_api: APIClient, admin_api: APIClient
) -> None:
    url = "/api/v1/rewrites/policy"

    assert agent_api.get(url).json() == {
        "auto_approve": False, "rewriters": ["align", "llm", "template"], "max_versions": 3,
        "good_reward": 0.5, "auto_confidence": 0.5, "max_fruitless": 3, "penalty": 0.5,
    }  # fmt: skip
    assert agent_api.patch(url, {"auto_approve": True}).status_code == 403
    assert admin_api.patch(url, {"auto_approve": True}).data["auto_approve"] is True
    assert admin_api.patch(url, {"rewriters": ["align", "align"]}).status_code == 422
    assert agent_api.get(url).data["auto_approve"] is True


def test_alerts__listed_closed_and_resumed__once(cast: Cast, review_api: APIClient) -> None:
    path = make_failed_path(cast.workspace)
    pause = f"/api/v1/paths/{path.uuid}/automatic"
    assert review_api.post(pause, {"paused": True, "reason": "Wait."}).data == {
        "paused": True,
        "reason": "Wait.",
    }
    alert = Alert.objects.create(
        workspace=cast.workspace, kind="rewrite_storm", dedupe="x", title="x", raised_at=timezone.now(),
        lineage=path.lineage,
    )  # fmt: skip

    listed = review_api.get("/api/v1/alerts?open=true").data["results"]
    closed = review_api.post(f"/api/v1/alerts/{alert.uuid}/close", {"note": "Seen.", "resume": True})
    again = review_api.post(f"/api/v1/alerts/{alert.uuid}/close", {})

    assert [row["uuid"] for row in listed] == [str(alert.uuid)]
    assert (closed.status_code, closed.data["closed_by"], closed.data["note"]) == (200, "reviewer", "Seen.")
    assert (again.status_code, again.data["detail"]) == (409, "This alert was closed by reviewer.")
    assert review_api.get("/api/v1/alerts?open=true").data["results"] == []
    path.lineage.refresh_from_db()
    assert path.lineage.automatic_paused_at is None
    assert review_api.post(pause, {"paused": False}).data == {"paused": False, "reason": ""}
