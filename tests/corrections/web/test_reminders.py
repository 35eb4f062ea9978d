"""Rules that need a look: the banner, the filter, one click, the settings."""

from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from corrections.background.staleness import mark_stale_rules
from corrections.models import Rule
from tests.conftest import Cast, page_client
from tests.corrections.builders import make_rule


@pytest.fixture
def stale(cast: Cast) -> Rule:
    """A rule whose tool nobody calls."""
    rule = make_rule(cast.workspace)
    mark_stale_rules(timezone.now() + timedelta(days=61))
    rule.refresh_from_db()
    return rule


def test_banner__marked_rule__says_why_and_one_click_clears(cast: Cast, stale: Rule) -> None:
    client, url = page_client(cast.reviewer), f"/w/acme/rules/{stale.uuid}/"
    assert "Nobody ever called its tool: weather_api." in client.get(url).text
    client.post(f"{url}review/", {"note": "asked the team"})
    assert "This rule needs a look" not in client.get(url).text
    stale.refresh_from_db()
    assert stale.reviewed_at is not None


def test_list__only_those__leaves_the_others_out(cast: Cast, stale: Rule) -> None:
    make_rule(cast.workspace, name="fresh")
    text = page_client(cast.viewer).get("/w/acme/rules/?needs_look=true").text
    assert "needs a look" in text
    assert "fresh" not in text


def test_list__starts_later__is_scheduled(cast: Cast) -> None:
    make_rule(cast.workspace, valid_from=(timezone.now() + timedelta(days=1)).isoformat())
    assert "scheduled" in page_client(cast.viewer).get("/w/acme/rules/").text


def test_settings__days__are_kept(cast: Cast) -> None:
    client, url = page_client(cast.owner), "/w/acme/rules/reminders/"
    assert client.post(url, {"unmatched_days": 5, "expiry_notice_days": 0}).status_code == 302
    assert 'value="5"' in client.get(url).text
    assert client.post(url, {"unmatched_days": -1, "expiry_notice_days": 0}).status_code == 422
    assert page_client(cast.maintainer).get(url).status_code == 403


def test_api__needs_look__lists_and_clears(stale: Rule, admin_api: APIClient) -> None:
    (row,) = admin_api.get("/api/v1/rules?needs_look=true").json()["results"]
    assert row["stale_reasons"][0]["kind"] == "tool_unknown"
    body = admin_api.post(f"/api/v1/rules/{stale.uuid}/review", {"reason": "fine"}).json()
    assert (body["stale_since"], body["stale_reasons"]) == (None, [])
    assert admin_api.get("/api/v1/rules?needs_look=true").json()["results"] == []
