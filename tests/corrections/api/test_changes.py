"""Change requests over the API: a whole life, the 409 with three documents, the policy."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from corrections.actions.rules import take_step
from corrections.models import Rule
from memory.domain.access import Scope
from memory.permissions import SYSTEM
from tests.conftest import Cast, api_client, make_key
from tests.corrections.builders import allow_self_approval, make_change, make_rule

LIST = "/api/v1/change-requests"


def test_change__asked_scheduled_commented_and_approved__over_the_api(cast: Cast) -> None:
    allow_self_approval(cast.workspace)
    writer = api_client(make_key(cast.workspace, Scope.RULES_WRITE, Scope.EXPERIENCE_READ, name="writer"))
    reviewer = api_client(make_key(cast.workspace, Scope.REVIEW, Scope.EXPERIENCE_READ, name="reviewer"))
    rule = make_rule(cast.workspace)
    made = writer.post(LIST, {"rule": str(rule.uuid), "kind": "disable", "reason": "tool is gone"})
    assert made.status_code == 201, made.content
    url = f"{LIST}/{made.json()['uuid']}"
    assert writer.post(f"{url}/approve", {"revision": 1}).status_code == 403
    assert writer.post(f"{url}/schedule", {"publish_at": "2099-01-01T00:00:00Z"}).json()["revision"] == 2
    assert writer.post(f"{url}/schedule", {"publish_at": None}).json()["revision"] == 3
    assert reviewer.post(f"{url}/comments", {"text": "right"}).status_code == 201
    assert reviewer.post(f"{url}/approve", {"revision": 1}).status_code == 409
    approved = reviewer.post(f"{url}/approve", {"revision": 3, "note": "yes"}).json()
    assert approved["status"] == "published"
    picture = reviewer.get(url).json()
    assert [one["note"] for one in picture["approvals"]] == ["yes"]
    assert [one["text"] for one in picture["comments"]] == ["right"]
    assert Rule.objects.get(pk=rule.pk).status == "disabled"


def test_approve__stale__answers_409_with_what_is_true_now(cast: Cast, admin_api: APIClient) -> None:
    allow_self_approval(cast.workspace)
    change = make_change(cast.workspace, by=cast.actor("maintainer"))
    take_step(rule=Rule.objects.get(pk=change.rule_id), step="disable", by=SYSTEM)
    answer = admin_api.post(f"{LIST}/{change.uuid}/approve", {"revision": 1})
    assert answer.status_code == 409
    current = answer.json()["current"]
    assert "has changed since" in current["stale"]
    assert "priority" in [side["field"] for side in current["sides"]]
    assert admin_api.post(f"{LIST}/{change.uuid}/rebase", {"revision": 1}).json()["revision"] == 2
    assert admin_api.post(f"{LIST}/{change.uuid}/approve", {"revision": 2}).json()["status"] == "published"


def test_decisions__reject_reopen_withdraw__follow_each_other(cast: Cast, admin_api: APIClient) -> None:
    url = f"{LIST}/{make_change(cast.workspace).uuid}"
    assert admin_api.post(f"{url}/reject", {}).status_code == 422
    assert admin_api.post(f"{url}/reject", {"reason": "no"}).json()["status"] == "rejected"
    assert admin_api.post(f"{url}/withdraw", {}).status_code == 409
    assert admin_api.post(f"{url}/reopen", {}).json()["status"] == "open"
    assert admin_api.post(f"{url}/withdraw", {"reason": "later"}).json()["status"] == "withdrawn"


@pytest.mark.parametrize(
    ("query", "n"),
    [
        pytest.param("", 3, id="all"),
        pytest.param("?status=open", 1, id="status"),
        pytest.param("?status=undecided", 1, id="undecided"),
        pytest.param("?kind=create", 2, id="kind"),
        pytest.param("?mine=true", 0, id="mine"),
        pytest.param("?q=Other", 1, id="title"),
        pytest.param("?rule=nonsense", 0, id="no uuid"),
    ],
)
def test_list__filters__narrow_it(cast: Cast, admin_api: APIClient, query: str, n: int) -> None:
    make_change(cast.workspace)
    make_rule(cast.workspace, name="Other")
    assert len(admin_api.get(LIST + query).json()["results"]) == n


def test_edit__stale_base__shows_three_documents(cast: Cast, admin_api: APIClient) -> None:
    rule = Rule.objects.get(pk=make_change(cast.workspace).rule_id)
    document: dict[str, Any] = {**rule.latest_version.body, "priority": 8}
    answer = admin_api.patch(f"/api/v1/rules/{rule.uuid}", {"document": document, "base_version": 1})
    assert answer.status_code == 409
    row = {"field": "priority", "base": 0, "theirs": 5, "mine": 8, "collides": True}
    assert answer.json()["sides"] == [row]


def test_policy__key__may_make_it_stricter_only(admin_api: APIClient) -> None:
    url = f"{LIST}/policy"
    assert admin_api.get(url).json()["required_approvals"] == 1
    assert admin_api.patch(url, {"required_approvals": 2}).json()["required_approvals"] == 2
    assert admin_api.patch(url, {"self_approval": True}).status_code == 409
    assert admin_api.patch(url, {"required_approvals": 99}).status_code == 422
