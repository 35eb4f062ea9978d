"""Rules over the API with an ``Idempotency-Key``: a repeated request writes nothing twice."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from corrections.models import Rule, RuleVersion
from memory.models import AuditEvent
from tests.conftest import Cast
from tests.corrections.builders import allow_self_approval, serve_at_once, weather_document

pytestmark = pytest.mark.django_db


def send(client: APIClient, method: str, url: str, body: dict[str, Any], key: str) -> Any:
    return getattr(client, method)(url, body, headers={"Idempotency-Key": key})


def test_rules__each_write_sent_twice__happens_once(cast: Cast, admin_api: APIClient) -> None:
    serve_at_once(cast.workspace)
    allow_self_approval(cast.workspace)
    drafts = [
        send(admin_api, "post", "/api/v1/rules", {"document": weather_document()}, "draft") for _ in range(2)
    ]
    url = f"/api/v1/rules/{drafts[0].json()['uuid']}"
    edit = {"document": weather_document(priority=3), "base_version": 1}
    edits = [send(admin_api, "patch", url, edit, "edit") for _ in range(2)]
    steps = [send(admin_api, "post", f"{url}/activate", {"reason": "go"}, "on") for _ in range(2)]

    assert [answer.status_code for answer in (*drafts, *edits, *steps)] == [201, 201, 200, 200, 200, 200]
    for first, second in (drafts, edits, steps):
        assert first.json() == second.json()
        assert second.headers["Idempotent-Replayed"] == "true"
    assert (Rule.objects.count(), RuleVersion.objects.count()) == (1, 2)
    assert AuditEvent.objects.filter(verb="activate_rule").count() == 1


def test_rules__refused_step__is_not_kept(cast: Cast, admin_api: APIClient) -> None:
    allow_self_approval(cast.workspace)
    draft = admin_api.post("/api/v1/rules", {"document": weather_document()}).json()
    url = f"/api/v1/rules/{draft['uuid']}"
    assert send(admin_api, "post", f"{url}/disable", {}, "off").status_code == 409
    admin_api.post(f"{url}/activate", {})

    assert send(admin_api, "post", f"{url}/disable", {}, "off").json()["status"] == "disabled"
