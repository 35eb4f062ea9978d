"""Who is told what: webhooks written, switched and removed, and messages put on their way."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from memory.background.messages import put_messages, tell
from memory.domain.access import Actor, check_may
from memory.domain.webhooks import CHOSEN, InvalidWebhookError, check_url, shown_secret
from memory.events import record_event
from memory.live.webhook_keys import webhook_key
from memory.models import Webhook, WebhookDelivery, Workspace

MAX_WEBHOOKS = 20


def notify(*, workspace_id: int, event: str, subject: Any, body: Mapping[str, Any]) -> int:
    """Put a message on its way to every webhook that wants it, in the caller's transaction; how many.

    ``subject`` has a uuid; ``body`` is JSON-ready and short. The worker sends it when the transaction is
    committed, so nobody hears of what did not happen.
    """
    return tell(workspace_id=workspace_id, event=event, subject=subject, body=body)


@transaction.atomic
def create_webhook(*, workspace: Workspace, url: str, events: Sequence[str], by: Actor) -> Webhook:
    """A new webhook, switched on. Its secret is :func:`secret_of`.

    Raises :class:`NotPermitted`, InvalidWebhookError; IntegrityError when the address has one already.
    """
    check_may(by, "manage_webhooks", within=workspace.pk)
    Workspace.objects.select_for_update().get(pk=workspace.pk)
    if Webhook.objects.filter(workspace=workspace).count() >= MAX_WEBHOOKS:
        raise InvalidWebhookError(f"A workspace has at most {MAX_WEBHOOKS} webhooks.")
    hook = Webhook(workspace=workspace, url=check_url(url), events=_events(events), created_by=by.name[:200])
    hook.save(force_insert=True)
    record_event(by=by, workspace=workspace, verb="create_webhook", subject=hook, new=_facts(hook))
    return hook


@transaction.atomic
def edit_webhook(
    *, webhook: Webhook, by: Actor, url: str | None = None, events: Sequence[str] | None = None,
    is_enabled: bool | None = None,
) -> Webhook:  # fmt: skip
    """Change what is given. Raises as :func:`create_webhook`."""
    check_may(by, "manage_webhooks", within=webhook.workspace_id)
    locked = Webhook.objects.select_for_update().get(pk=webhook.pk)
    old = _facts(locked)
    if url is not None:
        locked.url = check_url(url)
    if events is not None:
        locked.events = _events(events)
    if is_enabled is not None:
        locked.is_enabled, locked.failures = is_enabled, 0
    locked.save(update_fields=["url", "events", "is_enabled", "failures"])
    if _facts(locked) != old:
        record_event(
            by=by, workspace=locked.workspace, verb="edit_webhook", subject=locked, old=old,
            new=_facts(locked),
        )  # fmt: skip
    return locked


@transaction.atomic
def renew_secret(*, webhook: Webhook, by: Actor) -> Webhook:
    """Another secret from now on; the old one signs nothing any more. Raises :class:`NotPermitted`."""
    check_may(by, "manage_webhooks", within=webhook.workspace_id)
    locked = Webhook.objects.select_for_update().get(pk=webhook.pk)
    locked.secret_number += 1
    locked.save(update_fields=["secret_number"])
    record_event(by=by, workspace=locked.workspace, verb="renew_webhook_secret", subject=locked)
    return locked


@transaction.atomic
def delete_webhook(*, webhook: Webhook, by: Actor) -> None:
    """Remove it and what is on its way to it. Raises :class:`NotPermitted`."""
    check_may(by, "manage_webhooks", within=webhook.workspace_id)
    locked = Webhook.objects.select_for_update().get(pk=webhook.pk)
    record_event(by=by, workspace=locked.workspace, verb="delete_webhook", subject=locked, old=_facts(locked))
    locked.delete()


@transaction.atomic
def try_webhook(*, webhook: Webhook, by: Actor) -> WebhookDelivery:
    """Send it a test, also when it is switched off. Raises :class:`NotPermitted`."""
    check_may(by, "manage_webhooks", within=webhook.workspace_id)
    body = {"text": f"{by.name} tries this webhook."}
    return put_messages([webhook], event="webhook.test", subject=webhook, body=body)[0]


@transaction.atomic
def send_again(*, delivery: WebhookDelivery, by: Actor) -> WebhookDelivery:
    """Try a message again now, with its old id: receivers may have seen it. Raises :class:`NotPermitted`."""
    check_may(by, "manage_webhooks", within=delivery.webhook.workspace_id)
    WebhookDelivery.objects.filter(pk=delivery.pk).exclude(state="waiting").update(
        state="waiting", attempt=0, next_at=timezone.now(), ended_at=None
    )
    delivery.refresh_from_db()
    return delivery


def secret_of(webhook: Webhook) -> str:
    """What the receiver verifies signatures with: ``whsec_...``. Derived, so no backup holds it."""
    return shown_secret(webhook_key(webhook.uuid, webhook.secret_number))


def _events(events: Sequence[str]) -> list[str]:
    unknown = sorted(set(events) - set(CHOSEN))
    if unknown:
        raise InvalidWebhookError(f"No such event: {unknown[0][:80]}. There are {', '.join(CHOSEN)}.")
    if not events:
        raise InvalidWebhookError("Choose at least one event.")
    return [name for name in CHOSEN if name in set(events)]


def _facts(hook: Webhook) -> dict[str, Any]:
    return {"url": hook.url, "events": hook.events, "is_enabled": hook.is_enabled}
