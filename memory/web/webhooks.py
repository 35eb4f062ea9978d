"""Webhooks: who is told what, tried, and what became of each message."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db import IntegrityError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from memory.actions import webhooks as actions
from memory.domain.webhooks import CHOSEN, MAX_URL, InvalidWebhookError
from memory.models import Webhook
from memory.queries.resources import delivery_rows, webhook_rows
from memory.web.access import PageRequest, workspace_page

SHOWN = 50
WORDS = {
    "canary.started": gettext_lazy("a canary begins"),
    "canary.promoted": gettext_lazy("a canary ended well"),
    "canary.rolled_back": gettext_lazy("a canary was rolled back"),
    "canary.held": gettext_lazy("a canary waits for a person"),
    "alert.raised": gettext_lazy("an alert is raised"),
}


class WebhookForm(forms.Form):
    """A new webhook."""

    url = forms.CharField(
        label=gettext_lazy("Address"),
        max_length=MAX_URL,
        help_text=gettext_lazy("It gets a signed POST for each event (Standard Webhooks 1.0)."),
    )
    events = forms.MultipleChoiceField(
        label=gettext_lazy("Tell it when"),
        widget=forms.CheckboxSelectMultiple,
        choices=[(name, WORDS[name]) for name in CHOSEN],
        initial=["canary.rolled_back", "canary.held", "alert.raised"],
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@workspace_page("manage_webhooks")
def webhooks(request: PageRequest) -> HttpResponse:
    """The webhooks, and a form for one more. The answer to the form is where its secret is shown."""
    form = WebhookForm(request.POST or None)
    made = _create(request, form) if request.method == "POST" and form.is_valid() else None
    context = _listed(request) | {"form": WebhookForm() if made else form}
    context |= {"secret": actions.secret_of(made) if made else ""}
    return render(request, "webhooks/list.html", context)


@require_GET
@workspace_page("manage_webhooks")
def webhook(request: PageRequest, uuid: UUID) -> HttpResponse:
    """The newest messages to one webhook."""
    hook = get_object_or_404(webhook_rows(request.workspace.pk), uuid=uuid)
    sent = delivery_rows(request.workspace.pk).filter(webhook=hook)[:SHOWN]
    return render(
        request, "webhooks/detail.html", {"title": hook.url, "hook": hook, "sent": sent, "words": WORDS}
    )


@never_cache
@require_POST
@workspace_page("manage_webhooks")
def webhook_secret(request: PageRequest, uuid: UUID) -> HttpResponse:
    """A new secret, shown in this answer."""
    hook = get_object_or_404(webhook_rows(request.workspace.pk), uuid=uuid)
    hook = actions.renew_secret(webhook=hook, by=request.actor)
    context = _listed(request) | {"form": WebhookForm(), "secret": actions.secret_of(hook)}
    return render(request, "webhooks/list.html", context)


@require_POST
@workspace_page("manage_webhooks")
def webhook_step(request: PageRequest, uuid: UUID, step: str) -> HttpResponse:
    """Try it, switch it on or off, or remove it."""
    hook = get_object_or_404(webhook_rows(request.workspace.pk), uuid=uuid)
    if step == "test":
        actions.try_webhook(webhook=hook, by=request.actor)
        messages.success(request, _("A test is on its way. Reload to see what became of it."))
        return redirect("webhook", request.workspace.slug, hook.uuid)
    if step == "remove":
        actions.delete_webhook(webhook=hook, by=request.actor)
        messages.success(request, _("%(url)s is told nothing any more.") % {"url": hook.url})
    else:
        actions.edit_webhook(webhook=hook, is_enabled=step == "enable", by=request.actor)
    return redirect("webhooks", request.workspace.slug)


@require_POST
@workspace_page("manage_webhooks")
def delivery_again(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Send a message once more."""
    message = get_object_or_404(delivery_rows(request.workspace.pk), uuid=uuid)
    actions.send_again(delivery=message, by=request.actor)
    messages.success(request, _("It is on its way again."))
    return redirect("webhook", request.workspace.slug, message.webhook.uuid)


def _listed(request: PageRequest) -> dict[str, Any]:
    hooks = [(hook, [WORDS[name] for name in hook.events]) for hook in webhook_rows(request.workspace.pk)]
    return {"title": _("Webhooks"), "hooks": hooks}


def _create(request: PageRequest, form: WebhookForm) -> Webhook | None:
    """The new webhook, or None with the reason on the form."""
    given = form.cleaned_data
    try:
        return actions.create_webhook(
            workspace=request.workspace, url=given["url"].strip(), events=given["events"], by=request.actor
        )
    except InvalidWebhookError as problem:
        form.add_error("url", str(problem))
    except IntegrityError:
        form.add_error("url", _("This address has a webhook already."))
    return None
