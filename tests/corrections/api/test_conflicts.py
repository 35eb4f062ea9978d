"""Conflicts, scans and rulings over the API."""

import pytest
from rest_framework.test import APIClient

from corrections.background.scanning import scan_backlog
from corrections.models import Ruling
from memory.domain.access import Scope
from tests.conftest import Cast, api_client, make_key
from tests.corrections.builders import weather_document
from tests.corrections.conflicts import found, make_pair

pytestmark = pytest.mark.django_db
LIST = "/api/v1/conflicts"


def let_keys_decide(cast: Cast) -> None:
    cast.workspace.settings = {
        "changes": {"self_approval": True, "key_approval": True}, "canaries": {"start": "never"},
    }  # fmt: skip
    cast.workspace.save()


def test_conflicts__found__are_listed_proven_and_frequent_first(cast: Cast, admin_api: APIClient) -> None:
    make_pair(cast.workspace)
    conflict = found(cast.workspace)

    rows = admin_api.get(LIST, {"status": "open", "kind": "contradictory"}).json()["results"]
    one = admin_api.get(f"{LIST}/{conflict.uuid}").json()

    assert [row["uuid"] for row in rows] == [str(conflict.uuid)]
    assert (one["verdict"], one["field"], one["frequency_of"]) == ("conflict", "input.city", 0)
    assert one["witness"]["tool"] == {"name": "weather_api"}
    assert admin_api.get(LIST, {"kind": "dead"}).json()["results"] == []
    assert len(admin_api.get(LIST, {"rule": one["rule_b"]}).json()["results"]) == 1
    assert admin_api.get(LIST, {"rule": "x"}).status_code == 404


def test_scan__asked_for__says_how_far_it_is_and_is_not_doubled(cast: Cast, admin_api: APIClient) -> None:
    make_pair(cast.workspace)

    first, second = (admin_api.post(f"{LIST}/scan", {}) for _ in range(2))

    assert (first.status_code, first.json()["status"]) == (202, "queued")
    assert second.json()["uuid"] == first.json()["uuid"]
    scan_backlog(60.0)
    done = admin_api.get(f"{LIST}/scans/{first.json()['uuid']}").json()
    assert (done["status"], done["done"], done["total"]) == ("done", 3, 3)
    foreign = api_client(make_key(cast.elsewhere, Scope.ADMIN))
    assert foreign.get(f"{LIST}/scans/{first.json()['uuid']}").status_code == 404


def test_rule__approval_is_needed__waits_with_202(cast: Cast) -> None:
    make_pair(cast.workspace)
    conflict = found(cast.workspace)
    api = api_client(make_key(cast.workspace, Scope.REVIEW))

    answer = api.post(f"{LIST}/{conflict.uuid}/rule", {"verdict": "b_wins", "reason": "ours"})

    assert (answer.status_code, answer.json()["status"]) == (202, "open")
    assert Ruling.objects.get(uuid=answer.json()["ruling"]).status == "proposed"


def test_rule__in_force__a_change_that_breaks_it_is_refused_with_it(cast: Cast, admin_api: APIClient) -> None:
    _, b = make_pair(cast.workspace)
    let_keys_decide(cast)
    url = f"{LIST}/{found(cast.workspace).uuid}/rule"

    ruled = admin_api.post(url, {"verdict": "b_wins", "reason": "ours"})
    assert (ruled.status_code, ruled.json()["status"]) == (200, "published")

    document = weather_document(name="Beijing", condition="input.country == 'FR'")
    admin_api.patch(f"/api/v1/rules/{b.uuid}", {"document": document, "base_version": 1})
    refused = admin_api.post(f"/api/v1/rules/{b.uuid}/activate", {})
    assert (refused.status_code, refused.json()["code"]) == (409, "broken_ruling")
    assert refused.json()["errors"][0] == {"field": "ruling", "detail": ruled.json()["ruling"]}

    rulings = admin_api.get("/api/v1/rulings", {"status": "active"}).json()["results"]
    assert [row["verdict"] for row in rulings] == ["b_wins"]
    ended = admin_api.post(f"/api/v1/rulings/{ruled.json()['ruling']}/end", {"reason": "over"})
    assert ended.json()["status"] == "published"
    assert admin_api.post(f"/api/v1/rules/{b.uuid}/activate", {}).json()["live_version"] == 2


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param({}, 422, id="nothing"),
        pytest.param({"verdict": "a_wins"}, 422, id="no reason"),
        pytest.param({"verdict": "x", "reason": "y"}, 422, id="unknown verdict"),
        pytest.param({"verdict": "accept", "reason": "y"}, 409, id="accepted for ever"),
        pytest.param({"verdict": "narrow", "reason": "y", "condition": "input.("}, 422, id="no condition"),
        pytest.param({"verdict": "accept", "reason": "y", "expires_at": "soon"}, 422, id="no date"),
    ],
)
def test_rule__bad_word__is_refused_and_nothing_is_kept(
    cast: Cast, admin_api: APIClient, body: dict[str, str], status: int
) -> None:
    make_pair(cast.workspace)
    conflict = found(cast.workspace)

    answer = admin_api.post(f"{LIST}/{conflict.uuid}/rule", body)

    assert answer.status_code == status, answer.content
    assert not Ruling.objects.exists()


def test_rule__without_the_scope__is_refused(cast: Cast) -> None:
    make_pair(cast.workspace)
    conflict = found(cast.workspace)
    api = api_client(make_key(cast.workspace, Scope.RULES_WRITE))

    assert api.post(f"{LIST}/{conflict.uuid}/rule", {"verdict": "a_wins", "reason": "x"}).status_code == 403
