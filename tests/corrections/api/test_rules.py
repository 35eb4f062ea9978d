"""The rules API: happy paths, one refusal each, and the wall between workspaces."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from corrections.models import Rule
from memory.api.throttles import BUCKETS
from memory.domain.access import Scope
from tests.conftest import Cast, api_client, make_key
from tests.corrections.builders import allow_self_approval, make_rule, serve_at_once, weather_document

STEPS = ("activate", "disable", "retire", "delete")


def test_rules__whole_life__over_the_api(cast: Cast, admin_api: APIClient) -> None:
    serve_at_once(cast.workspace)
    allow_self_approval(cast.workspace)
    made = admin_api.post("/api/v1/rules", {"document": weather_document(), "note": "from a failure"})
    assert made.status_code == 201, made.content
    url = f"/api/v1/rules/{made.json()['uuid']}"
    assert made.json()["status"] == "draft"

    edited = admin_api.patch(url, {"document": weather_document(priority=3), "base_version": 1})
    assert edited.json()["latest_version"]["number"] == 2
    active = admin_api.post(f"{url}/activate", {"reason": "ready"}).json()
    assert (active["status"], active["live_version"]) == ("active", 2)

    diff = admin_api.get(f"{url}/diff?from=1&to=2").json()
    assert diff == {"changes": [{"field": "priority", "kind": "changed", "old": 0, "new": 3}]}
    versions = admin_api.get(f"{url}/versions").json()["results"]
    assert [version["number"] for version in versions] == [2, 1]
    assert versions[1]["note"] == "from a failure"

    back = admin_api.post(f"{url}/rollback", {"to_version": 1, "base_version": 2}).json()
    assert (back["live_version"], back["latest_version"]["document"]["priority"]) == (3, 0)
    assert admin_api.post(f"{url}/disable", {}).json()["live_version"] is None
    assert admin_api.post(f"{url}/retire", {}).json()["status"] == "retired"
    assert admin_api.get(url).json()["status"] == "retired"


def test_create__bad_condition__answers_422_with_the_path(admin_api: APIClient) -> None:
    answer = admin_api.post("/api/v1/rules", {"document": weather_document(condition="input.city ==")})
    assert answer.status_code == 422
    assert answer.json()["field"] == "document.condition"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"document": [1]}, id="a list"),
        pytest.param({"document": "x"}, id="text"),
        pytest.param({"document": {}}, id="empty"),
        pytest.param({"document": None}, id="null"),
    ],
)
def test_create__no_rule_at_all__answers_422(admin_api: APIClient, body: dict[str, Any]) -> None:
    answer = admin_api.post("/api/v1/rules", body)
    assert answer.status_code == 422
    assert answer.json()["field"].startswith("document")


def test_patch__stale_base__answers_409(cast: Cast, admin_api: APIClient) -> None:
    rule = make_rule(cast.workspace)
    body = {"document": weather_document(priority=1), "base_version": 1}
    assert admin_api.patch(f"/api/v1/rules/{rule.uuid}", body).status_code == 200
    body["document"] = weather_document(priority=2)
    answer = admin_api.patch(f"/api/v1/rules/{rule.uuid}", body)
    assert answer.status_code == 409
    assert "version 2" in answer.json()["detail"]


def test_step__not_possible_now__answers_409_in_words(cast: Cast, admin_api: APIClient) -> None:
    rule = make_rule(cast.workspace, active=False)
    answer = admin_api.post(f"/api/v1/rules/{rule.uuid}/disable", {})
    assert answer.status_code == 409
    assert answer.json()["detail"].startswith("A rule that is draft cannot be disabled")


@pytest.mark.parametrize(
    ("query", "names"),
    [
        pytest.param("", ["b", "a"], id="all, newest first"),
        pytest.param("?status=active", ["a"], id="status"),
        pytest.param("?tool=mail", ["b"], id="tool"),
        pytest.param("?action_type=PROMPT_ENHANCEMENT", [], id="action"),
        pytest.param("?q=TRIM", ["a"], id="text in the condition"),
        pytest.param("?page_size=1", ["b"], id="page size"),
    ],
)
def test_list__filters__narrow_it(cast: Cast, admin_api: APIClient, query: str, names: list[str]) -> None:
    make_rule(cast.workspace, name="a")
    make_rule(cast.workspace, active=False, name="b", applies_to="TOOL_CALL:mail", condition="input.to == ''")
    make_rule(cast.elsewhere, name="foreign")
    answer = admin_api.get(f"/api/v1/rules{query}").json()
    assert [rule["name"] for rule in answer["results"]] == names


def test_list__more_rules__asks_no_more_queries(
    cast: Cast, admin_api: APIClient, django_assert_max_num_queries: Any
) -> None:
    for number in range(12):
        make_rule(cast.workspace, name=str(number))
    with django_assert_max_num_queries(3):
        assert len(admin_api.get("/api/v1/rules").json()["results"]) == 12


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("get", ""), ("patch", ""), ("get", "/versions"), ("get", "/diff?from=1&to=1"), ("post", "/rollback"),
        *(("post", f"/{step}") for step in STEPS),
    ],
)  # fmt: skip
def test_every_route__foreign_rule__is_not_there(
    cast: Cast, foreign_api: APIClient, method: str, path: str
) -> None:
    rule = make_rule(cast.workspace)
    body = {"document": weather_document(), "base_version": 1, "to_version": 1}
    answer = getattr(foreign_api, method)(f"/api/v1/rules/{rule.uuid}{path}", body)
    assert answer.status_code == 404
    rule.refresh_from_db()
    assert rule.status == "active"


@pytest.mark.parametrize(
    ("method", "path"), [("post", ""), *(("post", f"/{{uuid}}/{step}") for step in (*STEPS, "rollback"))]
)
def test_every_write__agent_key__is_forbidden(
    cast: Cast, agent_api: APIClient, method: str, path: str
) -> None:
    rule = make_rule(cast.workspace)
    answer = getattr(agent_api, method)(f"/api/v1/rules{path.format(uuid=rule.uuid)}", {})
    assert answer.status_code == 403
    assert "needs the scope" in answer.json()["detail"]


def test_activate__key_that_only_writes_rules__waits_with_its_change(cast: Cast) -> None:
    rule = make_rule(cast.workspace, active=False)
    writer = api_client(make_key(cast.workspace, Scope.RULES_WRITE))
    answer = writer.post(f"/api/v1/rules/{rule.uuid}/activate", {})
    assert (answer.status_code, answer.json()["status"]) == (202, "draft")
    assert answer.json()["change"]["status"] == "open"


def test_create__by_a_key__is_marked_as_an_agents(cast: Cast) -> None:
    writer = api_client(make_key(cast.workspace, Scope.RULES_WRITE))
    made = writer.post("/api/v1/rules", {"document": weather_document(created_by="human")}).json()
    assert made["created_by_kind"] == "agent"


def test_every_view__too_many_requests__answers_429(cast: Cast, admin_api: APIClient, settings: Any) -> None:
    settings.API_RATE = "1/min"
    BUCKETS.clear()
    answers = [admin_api.get("/api/v1/rules").status_code for _ in range(2)]
    assert answers == [200, 429]


def test_rule__what_was_measured__is_served_for_the_live_version_alone(
    cast: Cast, admin_api: APIClient
) -> None:
    rule = make_rule(cast.workspace)
    measured = {
        "estimate": 0.2, "lower": 0.05, "upper": 0.4, "n_canary": 40, "n_control": 41, "version": 1,
        "since": "2026-03-01T12:00:00+00:00", "phase": "trial",
    }  # fmt: skip
    Rule.objects.filter(pk=rule.pk).update(uplift=measured, effectiveness_score=0.8)
    url = f"/api/v1/rules/{rule.uuid}"

    first = admin_api.get(url).json()
    Rule.objects.filter(pk=rule.pk).update(uplift={**measured, "version": 2})
    of_another = admin_api.get(url).json()

    assert (first["uplift"], first["effectiveness_score"]) == (measured, 0.8)
    assert of_another["uplift"] is None
    assert (first["ageing"]["has_matched"], first["ageing"]["per_100"]) == (False, None)
