"""Messages to webhooks, sent to a real endpoint on loopback."""

import time
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler
from typing import Any

import orjson
import pytest
from django.db import transaction
from django.utils import timezone
from standardwebhooks.webhooks import Webhook as Receiver

from memory.actions.alerts import raise_alert
from memory.actions.webhooks import create_webhook, edit_webhook, notify, secret_of, send_again, try_webhook
from memory.background.webhooks import ALERT_AFTER, LEASE_S, drop_old_deliveries, send_backlog
from memory.domain.webhooks import WAITS_S
from memory.live import posting
from memory.models import Alert, Webhook, WebhookDelivery
from memory.permissions import SYSTEM
from tests.conftest import Cast
from tests.scripted import ScriptedServer, Turn, send, serve_script

pytestmark = pytest.mark.django_db


def answers(status: int, **headers: str) -> Turn:
    return lambda handler, _: send(handler, status, b"{}", **headers)


@pytest.fixture(autouse=True)
def _private_network(settings: Any) -> None:
    settings.WEBHOOK_PRIVATE = True


@pytest.fixture
def endpoint() -> Iterator[ScriptedServer]:
    with serve_script(answers(200)) as server:
        yield server


def make_hook(cast: Cast, url: str, *events: str) -> Webhook:
    chosen = events or ("canary.rolled_back",)
    return create_webhook(workspace=cast.workspace, url=url, events=chosen, by=cast.actor("owner"))


def tell(cast: Cast, event: str = "canary.rolled_back") -> int:
    return notify(workspace_id=cast.workspace.pk, event=event, subject=cast.workspace, body={"n": 7})


def one_message() -> WebhookDelivery:
    return WebhookDelivery.objects.get()


def make_due() -> None:
    WebhookDelivery.objects.filter(state="waiting").update(next_at=timezone.now())


def test_send_backlog__message__arrives_signed_as_the_standard_says(cast: Cast) -> None:
    received: list[dict[str, Any]] = []

    def take(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        received.append(Receiver(secret_of(hook)).verify(orjson.dumps(body), dict(handler.headers)))
        send(handler, 204, b"")

    with serve_script(take) as server:
        hook = make_hook(cast, server.url)
        tell(cast)
        assert send_backlog() == 1

    assert one_message().state == "delivered"
    assert received[0]["data"] == {"n": 7}
    assert received[0]["subject"]["uuid"] == str(cast.workspace.uuid)


def test_notify__nobody_wants_it__makes_no_message(cast: Cast, endpoint: ScriptedServer) -> None:
    edit_webhook(webhook=make_hook(cast, endpoint.url), is_enabled=False, by=cast.actor("owner"))
    make_hook(cast, endpoint.url + "/2", "canary.held")

    assert tell(cast) == 0


def test_notify__transaction_undone__tells_nobody(cast: Cast, endpoint: ScriptedServer) -> None:
    make_hook(cast, endpoint.url)
    with transaction.atomic():
        tell(cast)
        transaction.set_rollback(True)

    assert send_backlog() == 0
    assert endpoint.asked == []


def test_send_backlog__endpoint_fails_then_works__is_tried_again_with_the_same_id(cast: Cast) -> None:
    ids: list[str | None] = []

    def note(status: int) -> Turn:
        def answer(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
            ids.append(handler.headers["webhook-id"])
            send(handler, status, b"busy")

        return answer

    with serve_script(note(503), note(200)) as server:
        make_hook(cast, server.url)
        tell(cast)
        send_backlog()
        waiting = one_message()
        assert (waiting.state, waiting.status_code, waiting.last_error) == ("waiting", 503, "busy")
        assert waiting.next_at > timezone.now()
        assert send_backlog() == 0
        make_due()
        send_backlog()

    assert one_message().state == "delivered"
    assert ids == [str(one_message().uuid)] * 2


def test_send_backlog__redirect__is_not_followed(cast: Cast, endpoint: ScriptedServer) -> None:
    with serve_script(answers(302, Location=endpoint.url)) as server:
        make_hook(cast, server.url)
        tell(cast)
        send_backlog()

    assert one_message().status_code == 302
    assert endpoint.asked == []


def test_send_backlog__private_address__is_not_called(
    cast: Cast, endpoint: ScriptedServer, settings: Any
) -> None:
    settings.WEBHOOK_PRIVATE = False
    make_hook(cast, endpoint.url.replace("127.0.0.1", "localhost"))
    tell(cast)
    send_backlog()

    assert "not on the public internet" in one_message().last_error
    assert endpoint.asked == []


def test_send_backlog__name_that_cannot_be_one__is_tried_again_later(cast: Cast) -> None:
    make_hook(cast, f"http://{'a' * 70}.example/")
    tell(cast)

    assert send_backlog() == 1
    assert "has no address" in one_message().last_error


def test_send_backlog__endless_answer_by_drips__holds_no_worker(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posting, "TOTAL_S", 0.3)

    def drip(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for number in range(200):
            time.sleep(0.02)
            handler.wfile.write(f"x-{number}: 1\r\n".encode())

    with serve_script(drip) as server:
        make_hook(cast, server.url)
        tell(cast)
        begun = time.monotonic()
        send_backlog()

    assert time.monotonic() - begun < 2
    assert "ReadTimeout" in one_message().last_error


def test_send_backlog__never_taken__is_given_up_and_people_are_asked_once(cast: Cast) -> None:
    with serve_script(answers(500)) as server:
        hook = make_hook(cast, server.url)
        for _ in range(ALERT_AFTER + 1):
            tell(cast)
        for _ in range(len(WAITS_S) + 1):
            make_due()
            send_backlog()

    assert set(WebhookDelivery.objects.values_list("state", flat=True)) == {"given_up"}
    assert Alert.objects.get(kind="webhook_failing").detail["webhook"] == str(hook.uuid)


def test_send_backlog__worker_died_over_it__is_sent_when_the_lease_is_over(
    cast: Cast, endpoint: ScriptedServer
) -> None:
    make_hook(cast, endpoint.url)
    tell(cast)
    lease = timezone.now() + timedelta(seconds=LEASE_S)
    WebhookDelivery.objects.update(next_at=lease, attempt=1)

    assert send_backlog() == 0
    make_due()
    assert send_backlog() == 1
    assert one_message().state == "delivered"


def test_send_again__given_up__is_sent_once_more(cast: Cast, endpoint: ScriptedServer) -> None:
    make_hook(cast, endpoint.url)
    tell(cast)
    WebhookDelivery.objects.update(state="given_up", attempt=8, ended_at=timezone.now())

    send_again(delivery=one_message(), by=cast.actor("owner"))
    send_backlog()

    assert one_message().state == "delivered"


def test_raise_alert__webhook_wants_alerts__is_told(cast: Cast, endpoint: ScriptedServer) -> None:
    make_hook(cast, endpoint.url, "alert.raised")
    for _ in range(2):
        raise_alert(
            workspace_id=cast.workspace.pk, kind="k", dedupe="d", title="Look", detail={"a": 1}, by=SYSTEM
        )
    send_backlog()

    assert [asked["data"]["title"] for asked in endpoint.asked] == ["Look"]


def test_try_webhook__switched_off__is_sent_all_the_same(cast: Cast, endpoint: ScriptedServer) -> None:
    hook = make_hook(cast, endpoint.url)
    edit_webhook(webhook=hook, is_enabled=False, by=cast.actor("owner"))

    try_webhook(webhook=hook, by=cast.actor("owner"))
    send_backlog()

    assert [asked["type"] for asked in endpoint.asked] == ["webhook.test"]


def test_drop_old_deliveries__ended_long_ago__are_forgotten(cast: Cast, endpoint: ScriptedServer) -> None:
    make_hook(cast, endpoint.url)
    tell(cast)
    tell(cast)
    first = WebhookDelivery.objects.order_by("pk")[:1].values("pk")
    WebhookDelivery.objects.filter(pk__in=list(first.values_list("pk", flat=True))).update(
        state="delivered", ended_at=timezone.now() - timedelta(days=31)
    )

    assert drop_old_deliveries(timezone.now()) == 1
    assert one_message().state == "waiting"
