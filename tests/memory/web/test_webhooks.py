"""Webhooks through their pages."""

import re

import pytest

from memory.actions.webhooks import create_webhook
from memory.models import Webhook, WebhookDelivery
from memory.permissions import SYSTEM
from tests.conftest import Cast, page_client

pytestmark = pytest.mark.django_db
URL = "/w/acme/webhooks/"
NEW = {"url": "https://example.org/hook", "events": ["canary.rolled_back"]}


def make_hook(cast: Cast) -> Webhook:
    return create_webhook(workspace=cast.workspace, by=SYSTEM, **NEW)


def test_webhooks__nothing_yet__says_what_to_do(cast: Cast) -> None:
    assert "Create a webhook, then send it a test" in page_client(cast.owner).get(URL).text


def test_webhooks__created__secret_is_shown_once(cast: Cast) -> None:
    client = page_client(cast.owner)

    answer = client.post(URL, NEW)

    secret = re.search(r'id="new-secret">(whsec_[^<]+)<', answer.text)[1]
    assert "no-store" in answer.headers["Cache-Control"]
    assert secret not in client.get(URL).text
    assert Webhook.objects.get().events == ["canary.rolled_back"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param({**NEW, "url": "ftp://example.org"}, "begins with https://", id="scheme"),
        pytest.param({**NEW, "events": []}, "This field is required", id="no-event"),
        pytest.param(NEW, "has a webhook already", id="taken"),
    ],
)
def test_webhooks__bad_form__says_why_and_makes_none(cast: Cast, given: dict[str, object], said: str) -> None:
    make_hook(cast)

    assert said in page_client(cast.owner).post(URL, given).text
    assert Webhook.objects.count() == 1


def test_webhook__steps__are_taken(cast: Cast) -> None:
    hook, client = make_hook(cast), page_client(cast.owner)

    client.post(f"{URL}{hook.uuid}/disable/")
    hook.refresh_from_db()
    assert not hook.is_enabled
    client.post(f"{URL}{hook.uuid}/enable/")
    assert "whsec_" in client.post(f"{URL}{hook.uuid}/secret/").text
    assert "webhook.test" in client.post(f"{URL}{hook.uuid}/test/", follow=True).text

    message = WebhookDelivery.objects.get()
    WebhookDelivery.objects.update(state="given_up", last_error="<b>busy</b>")
    page = client.get(f"{URL}{hook.uuid}/").text
    assert "given up" in page
    assert "&lt;b&gt;busy" in page
    client.post(f"/w/acme/deliveries/{message.uuid}/again/")
    message.refresh_from_db()
    assert message.state == "waiting"

    client.post(f"{URL}{hook.uuid}/remove/")
    assert not Webhook.objects.exists()


def test_webhook__maintainer__may_not_see_them(cast: Cast) -> None:
    assert page_client(cast.maintainer).get(URL).status_code == 403
