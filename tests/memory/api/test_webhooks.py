"""Webhooks over the API."""

import pytest
from rest_framework.test import APIClient

from memory.domain.access import Scope
from memory.models import AuditEvent, Webhook
from tests.conftest import Cast, api_client, make_key

pytestmark = pytest.mark.django_db
NEW = {"url": "https://example.org/hook", "events": ["canary.rolled_back"]}


@pytest.fixture
def admin(cast: Cast) -> APIClient:
    return api_client(make_key(cast.workspace, Scope.ADMIN, name="admin"))


def test_create__admin_key__shows_the_secret_this_once(admin: APIClient) -> None:
    made = admin.post("/api/v1/webhooks", NEW, format="json")

    assert made.status_code == 201
    assert made.json()["secret"].startswith("whsec_")
    assert "secret" not in admin.get(f"/api/v1/webhooks/{made.json()['uuid']}").json()
    assert AuditEvent.objects.get(verb="create_webhook").new["url"] == NEW["url"]


@pytest.mark.parametrize(
    ("change", "status"),
    [
        pytest.param({"url": "ftp://example.org"}, 422, id="scheme"),
        pytest.param({"events": ["canary.exploded"]}, 422, id="event"),
        pytest.param({"events": []}, 422, id="no-event"),
        pytest.param({}, 409, id="same-address"),
    ],
)
def test_create__not_usable__is_refused(admin: APIClient, change: dict[str, object], status: int) -> None:
    admin.post("/api/v1/webhooks", NEW, format="json")

    assert admin.post("/api/v1/webhooks", NEW | change, format="json").status_code == status
    assert Webhook.objects.count() == 1


def test_secret__renewed__is_another(admin: APIClient) -> None:
    made = admin.post("/api/v1/webhooks", NEW, format="json").json()

    renewed = admin.post(f"/api/v1/webhooks/{made['uuid']}/secret").json()

    assert renewed["secret"] != made["secret"]


def test_test__message__is_listed_with_its_state(admin: APIClient) -> None:
    made = admin.post("/api/v1/webhooks", NEW, format="json").json()

    sent = admin.post(f"/api/v1/webhooks/{made['uuid']}/test")

    listed = admin.get(f"/api/v1/webhooks/{made['uuid']}/deliveries", {"state": "waiting"}).json()
    assert sent.status_code == 202
    assert [row["uuid"] for row in listed["results"]] == [sent.json()["uuid"]]
