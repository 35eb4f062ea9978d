"""Messages put on their way to webhooks, in the transaction of what they tell about."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone

from memory.models import Webhook, WebhookDelivery


def tell(*, workspace_id: int, event: str, subject: Any, body: Mapping[str, Any]) -> int:
    """A row for every webhook that wants the event; how many. ``subject`` is a row with a uuid."""
    hooks = Webhook.objects.filter(workspace_id=workspace_id, is_enabled=True).order_by("pk")
    wanting = [hook for hook in hooks if event in hook.events]
    put_messages(wanting, event=event, subject=subject, body=body)
    return len(wanting)


def put_messages(
    hooks: Sequence[Webhook], *, event: str, subject: Any, body: Mapping[str, Any]
) -> list[WebhookDelivery]:
    """The same message to these webhooks, due now."""
    now = timezone.now()
    about = {"kind": type(subject).__name__.lower(), "uuid": str(subject.uuid)}
    message = {"type": event, "timestamp": now.isoformat(), "subject": about, "data": dict(body)}
    rows = [
        WebhookDelivery(webhook=hook, event=event, body=message, next_at=now, created_at=now)
        for hook in hooks
    ]
    return WebhookDelivery.objects.bulk_create(rows)
