"""Canaries over the API."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from corrections.actions.rules import draft_rule
from corrections.models import Canary
from memory.domain.access import Scope
from tests.conftest import Cast, api_client, make_key
from tests.corrections.builders import make_rule, weather_document
from tests.corrections.canaries import INDUCER, again, expose, open_canary, turn

pytestmark = pytest.mark.django_db
LIST = "/api/v1/canaries"


def test_canaries__running_and_over__are_listed_and_filtered(cast: Cast, admin_api: APIClient) -> None:
    canary = open_canary(cast.workspace)
    Canary.objects.filter(pk=open_canary(cast.workspace, name="Other").pk).update(state="ended")

    rows = admin_api.get(LIST).json()["results"]
    live = admin_api.get(LIST, {"state": "live", "rule": str(canary.rule.uuid), "q": "default"}).json()

    assert [row["state"] for row in rows] == ["ended", "running"]
    assert [(row["uuid"], row["share"], row["baseline"]) for row in live["results"]] == [
        (str(canary.uuid), 0.1, None)
    ]
    assert admin_api.get(LIST, {"rule": "x"}).json()["results"] == []


def test_canary__after_a_look__comes_with_stages_events_and_looks(cast: Cast, admin_api: APIClient) -> None:
    canary = open_canary(cast.workspace)
    expose(canary, "canary", 3)
    expose(canary, "control", 9, failed=2)
    turn()

    one = admin_api.get(f"{LIST}/{canary.uuid}").json()
    tasks = admin_api.get(f"{LIST}/{canary.uuid}/exposures", {"arm": "control"}).json()["results"]

    assert [(stage["share"], stage["ended_at"] is None) for stage in one["stages"]] == [
        (0.1, False), (0.5, True),
    ]  # fmt: skip
    assert [event["kind"] for event in one["events"]] == ["open", "start", "ramp"]
    assert one["looks"][0]["numbers"]["control"] == {"n": 9, "failed": 2}
    assert [task["failed"] for task in tasks].count(True) == 2


@pytest.mark.parametrize(
    ("step", "form", "state"),
    [
        pytest.param("pause", {}, "paused", id="pause"),
        pytest.param("promote", {}, "holdout", id="promote"),
        pytest.param("roll-back", {}, "rolled_back", id="roll back"),
        pytest.param("share", {"share": 0.3}, "running", id="share"),
        pytest.param("extend", {"days": 3}, "running", id="extend"),
    ],
)
def test_steer__possible__answers_with_the_canary_and_repeats_for_its_key(
    cast: Cast, admin_api: APIClient, step: str, form: dict[str, Any], state: str
) -> None:
    canary = open_canary(cast.workspace)
    body, key = {"reason": "because", **form}, {"HTTP_IDEMPOTENCY_KEY": "one"}

    answers = [admin_api.post(f"{LIST}/{canary.uuid}/{step}", body, format="json", **key) for _ in range(2)]

    assert [(answer.status_code, answer.json()["state"]) for answer in answers] == [(200, state)] * 2
    assert again(canary).events.count() == 3


def test_steer__impossible__is_refused_with_a_sentence(cast: Cast, admin_api: APIClient) -> None:
    canary = open_canary(cast.workspace)

    answer = admin_api.post(f"{LIST}/{canary.uuid}/end-holdout", {"reason": "because"}, format="json")

    assert (answer.status_code, "no holdout" in answer.json()["detail"]) == (409, True)


def test_steer__key_that_may_review__stops_but_does_not_promote(cast: Cast) -> None:
    canary = open_canary(cast.workspace)
    api = api_client(make_key(cast.workspace, Scope.REVIEW))

    answers = [
        api.post(f"{LIST}/{canary.uuid}/{step}", {"reason": "because"}, format="json").status_code
        for step in ("promote", "pause")
    ]

    assert answers == [403, 200]


def test_shadow__version_of_a_draft__is_started_and_stopped(cast: Cast, admin_api: APIClient) -> None:
    rule = draft_rule(workspace_id=cast.workspace.pk, document=weather_document(), by=INDUCER)
    url, body = f"/api/v1/rules/{rule.uuid}/shadow", {"version": 1, "reason": "look first"}

    made = admin_api.post(url, body, format="json")
    again_answer = admin_api.post(url, body, format="json")
    unknown = admin_api.post(url, body | {"version": 7}, format="json")
    stopped = admin_api.post(f"{LIST}/{made.json()['uuid']}/stop-shadow", {"reason": "seen"}, format="json")

    assert (made.status_code, made.json()["state"], made.json()["change"]) == (201, "shadow", None)
    assert (again_answer.status_code, unknown.status_code, stopped.json()["state"]) == (409, 404, "ended")


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        pytest.param({"start": "all", "min_look": 20}, 200, id="stricter"),
        pytest.param({"start": "never"}, 409, id="looser takes a person"),
        pytest.param({"first_share": 2}, 422, id="no share"),
    ],
)
def test_policy__by_a_key__gets_stricter_only(
    cast: Cast, admin_api: APIClient, changes: dict[str, Any], status: int
) -> None:
    before = admin_api.get(f"{LIST}/policy").json()

    answer = admin_api.patch(f"{LIST}/policy", changes, format="json")

    assert answer.status_code == status
    now = admin_api.get(f"{LIST}/policy").json()
    assert now == (before | changes if status == 200 else before)


def test_change__rollout__is_asked_for_shown_and_chosen_by_the_approver(
    cast: Cast, admin_api: APIClient
) -> None:
    cast.workspace.settings = {"changes": {"key_approval": True}}
    cast.workspace.save(update_fields=["settings"])
    rule = make_rule(cast.workspace, active=False)
    change = rule.changes.get()
    url = f"/api/v1/change-requests/{change.uuid}"
    assert admin_api.get(url).json()["change"]["rollout"] == "all"

    answer = admin_api.post(f"{url}/approve", {"revision": 1, "rollout": "canary"}, format="json")

    assert (answer.json()["status"], answer.json()["rollout"]) == ("published", "canary")
    assert Canary.objects.get().rule == rule
