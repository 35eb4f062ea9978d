"""Webhooks: who is told what, and what became of each message."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar
from uuid import UUID

from django.db import IntegrityError
from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memory.actions import webhooks as actions
from memory.api.access import actor_of, workspace_of
from memory.api.errors import Conflict, Unprocessable
from memory.api.filters import DeliveryFilter
from memory.api.idempotency import idempotent
from memory.api.resources import RowList, describes, find, read, writes
from memory.api.webhook_shapes import (
    ChangedWebhookSerializer,
    CreatedWebhookSerializer,
    DeliverySerializer,
    NewWebhookSerializer,
    WebhookSerializer,
)
from memory.domain.webhooks import InvalidWebhookError
from memory.models import Webhook, WebhookDelivery
from memory.queries.resources import delivery_rows, webhook_rows
from memory.queries.workspaces import get_workspace


class WebhookList(RowList[Webhook]):
    """The workspace's webhooks."""

    actions: ClassVar = {"GET": "manage_webhooks", "POST": "manage_webhooks"}
    queryset = Webhook.objects.none()
    serializer_class = WebhookSerializer

    def rows(self) -> QuerySet[Webhook]:
        """The workspace's webhooks."""
        return webhook_rows(workspace_of(self.request))

    @describes("webhooks", "List webhooks")
    def get(self, request: Request) -> Response:
        """Newest first, cursor-paged."""
        return self.listing()

    @writes("webhooks", "Create a webhook", {201: CreatedWebhookSerializer}, request=NewWebhookSerializer)
    @idempotent
    def post(self, request: Request) -> Response:
        """The secret is in this answer and nowhere else."""
        form = read(NewWebhookSerializer, request)
        workspace = get_workspace(workspace_of(request))
        with refusals():
            hook = actions.create_webhook(workspace=workspace, by=actor_of(request), **form)
        return Response(_with_secret(hook), status=201)


class WebhookDetail(APIView):
    """One webhook."""

    actions: ClassVar = {
        "GET": "manage_webhooks",
        "PATCH": "manage_webhooks",
        "DELETE": "manage_webhooks",
    }

    @describes("webhooks", "Get a webhook", {200: WebhookSerializer})
    def get(self, request: Request, uuid: UUID) -> Response:
        """Without its secret."""
        return Response(WebhookSerializer(find(webhook_rows(workspace_of(request)), uuid)).data)

    @writes(
        "webhooks", "Change a webhook, or switch it on or off", {200: WebhookSerializer},
        request=ChangedWebhookSerializer,
    )  # fmt: skip
    @idempotent
    def patch(self, request: Request, uuid: UUID) -> Response:
        """What is not sent stays."""
        hook = find(webhook_rows(workspace_of(request)), uuid)
        form = read(ChangedWebhookSerializer, request)
        with refusals():
            hook = actions.edit_webhook(webhook=hook, by=actor_of(request), **form)
        return Response(WebhookSerializer(hook).data)

    @writes("webhooks", "Delete a webhook", {204: None}, request=None)
    @idempotent
    def delete(self, request: Request, uuid: UUID) -> Response:
        """What is on its way to it is dropped."""
        hook = find(webhook_rows(workspace_of(request)), uuid)
        actions.delete_webhook(webhook=hook, by=actor_of(request))
        return Response(status=204)


class WebhookSecret(APIView):
    """The secret of a webhook."""

    actions: ClassVar = {"POST": "manage_webhooks"}

    @writes("webhooks", "Renew a webhook's secret", {200: CreatedWebhookSerializer}, request=None)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """The old one signs nothing any more."""
        hook = find(webhook_rows(workspace_of(request)), uuid)
        return Response(_with_secret(actions.renew_secret(webhook=hook, by=actor_of(request))))


class WebhookDeliveries(RowList[WebhookDelivery]):
    """What was sent to a webhook."""

    actions: ClassVar = {"GET": "manage_webhooks"}
    queryset = WebhookDelivery.objects.none()
    serializer_class = DeliverySerializer
    filterset_class = DeliveryFilter

    def rows(self) -> QuerySet[WebhookDelivery]:
        """The messages to one webhook."""
        hook = find(webhook_rows(workspace_of(self.request)), self.kwargs["uuid"])
        return delivery_rows(hook.workspace_id).filter(webhook=hook)

    @describes("webhooks", "List the messages to a webhook")
    def get(self, request: Request, uuid: UUID) -> Response:
        """Newest first, for thirty days after they ended."""
        return self.listing()


class TryWebhook(APIView):
    """A test message."""

    actions: ClassVar = {"POST": "manage_webhooks"}

    @writes("webhooks", "Send a webhook a test", {202: DeliverySerializer}, request=None)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """The worker sends it within seconds; look at the message to see what became of it."""
        hook = find(webhook_rows(workspace_of(request)), uuid)
        message = actions.try_webhook(webhook=hook, by=actor_of(request))
        return Response(DeliverySerializer(message).data, status=202)


class SendAgain(APIView):
    """A message once more."""

    actions: ClassVar = {"POST": "manage_webhooks"}

    @writes("webhooks", "Send a message again", {202: DeliverySerializer}, request=None)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """With its old id: a receiver that has seen it can tell. One that still waits goes on waiting."""
        message = find(delivery_rows(workspace_of(request)), uuid)
        again = actions.send_again(delivery=message, by=actor_of(request))
        return Response(DeliverySerializer(again).data, status=202)


@contextmanager
def refusals() -> Iterator[None]:
    """422 for what cannot be used, 409 for an address that has a webhook already."""
    try:
        yield
    except InvalidWebhookError as error:
        raise Unprocessable(str(error), [{"field": "url", "detail": str(error)}]) from error
    except IntegrityError as error:
        raise Conflict("This address has a webhook already.") from error


def _with_secret(hook: Webhook) -> dict[str, object]:
    return {**WebhookSerializer(hook).data, "secret": actions.secret_of(hook)}
