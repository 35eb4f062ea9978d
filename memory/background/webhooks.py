"""Sending what webhooks wait for: at least once, each message by one worker at a time.

A worker takes a message by moving its ``next_at`` behind a lease, in one compare and set. Should it die over
it, the message is due again when the lease is over; receivers know one that comes twice by its id.
"""

import logging
import time
from datetime import datetime, timedelta

import orjson
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from memory.background.alerting import put_alert
from memory.domain.plain_json import storable
from memory.domain.webhooks import shorten, sign, wait_after
from memory.events import record_event
from memory.live.posting import PostError, post
from memory.live.webhook_keys import webhook_key
from memory.models import Alert, Webhook, WebhookDelivery
from memory.permissions import SYSTEM

LEASE_S = 60
SLICE_S = 5.0
KEPT = timedelta(days=30)
ALERT_AFTER = 3
"""Messages given up in a row after which people are asked to look at the webhook."""
log = logging.getLogger(__name__)


def send_backlog(slice_s: float = SLICE_S) -> int:
    """Send what is due until the slice is over, the oldest first; how many messages were tried.

    Safe to run anywhere, many at once, and to kill at any moment.
    """
    until, count = time.monotonic() + slice_s, 0
    while time.monotonic() < until:
        message = _claim(timezone.now())
        if message is None:
            break
        _send(message)
        count += 1
    return count


def drop_old_deliveries(now: datetime) -> int:
    """Forget messages that ended a month ago; how many."""
    return WebhookDelivery.objects.exclude(state="waiting").filter(ended_at__lt=now - KEPT).delete()[0]


def _claim(now: datetime) -> WebhookDelivery | None:
    """The message that is due longest, with this worker's lease on it; None when nothing is due."""
    for message in WebhookDelivery.objects.due(now).select_related("webhook").order_by("next_at")[:20]:
        same = WebhookDelivery.objects.filter(pk=message.pk, state="waiting", next_at=message.next_at)
        if same.update(next_at=now + timedelta(seconds=LEASE_S), attempt=F("attempt") + 1):
            message.attempt += 1
            return message
    return None


def _send(message: WebhookDelivery) -> None:
    hook = message.webhook
    body, sent_at = orjson.dumps(shorten(message.body)), int(time.time())
    key = webhook_key(hook.uuid, hook.secret_number)
    headers = {
        "content-type": "application/json",
        "user-agent": "HGMem-Webhook/1",
        "webhook-id": str(message.uuid),
        "webhook-timestamp": str(sent_at),
        "webhook-signature": sign(key, message_id=str(message.uuid), timestamp=sent_at, body=body),
    }
    try:
        status, text = post(hook.url, body, headers)
    except PostError as fault:
        status, text = None, str(fault)
    if status is not None and 200 <= status < 300:
        _end(message, "delivered", status, "")
        return
    wait = wait_after(message.attempt)
    if wait is None:
        _end(message, "given_up", status, text)
        return
    WebhookDelivery.objects.filter(pk=message.pk, state="waiting").update(
        next_at=timezone.now() + timedelta(seconds=wait), status_code=status, last_error=_kept(text)
    )


@transaction.atomic
def _end(message: WebhookDelivery, state: str, status: int | None, text: str) -> None:
    waiting = WebhookDelivery.objects.filter(pk=message.pk, state="waiting")
    if not waiting.update(state=state, status_code=status, last_error=_kept(text), ended_at=timezone.now()):
        return
    hooks = Webhook.objects.filter(pk=message.webhook_id)
    if state == "delivered":
        hooks.exclude(failures=0).update(failures=0)
        return
    hooks.update(failures=F("failures") + 1)
    hook = hooks.select_related("workspace").first()
    if hook is not None and hook.failures >= ALERT_AFTER:
        _alert(hook, text)


def _alert(hook: Webhook, text: str) -> None:
    """People are asked to look, once while it is open. Not told over webhooks: this one does not work."""
    alert = Alert(
        workspace=hook.workspace, kind="webhook_failing", dedupe=f"webhook:{hook.uuid}",
        raised_at=timezone.now(),
        title=f"A webhook takes no messages: {hook.url}"[:300],
        detail={"webhook": str(hook.uuid), "given_up": hook.failures, "last_error": _kept(text)},
    )  # fmt: skip
    if put_alert(alert, is_told=False):
        record_event(
            by=SYSTEM, workspace=hook.workspace, verb="raise_alert", subject=alert, reason=alert.title
        )


def _kept(text: str) -> str:
    kept: str = storable(text[:1_000])
    return kept
