"""What the API says and hears about webhooks."""

from typing import Any, ClassVar

from rest_framework import serializers

from memory.domain.webhooks import CHOSEN, DELIVERY_STATES, MAX_URL
from memory.models import Webhook, WebhookDelivery

NAMES = list(CHOSEN)


class WebhookSerializer(serializers.ModelSerializer[Webhook]):
    """An address that is told of events. ``failures`` counts messages in a row that were given up."""

    events = serializers.ListField(child=serializers.ChoiceField(choices=NAMES), read_only=True)

    class Meta:
        model = Webhook
        fields: tuple[str, ...] = (
            "uuid", "url", "events", "is_enabled", "failures", "created_at", "created_by",
        )  # fmt: skip
        read_only_fields: tuple[str, ...] = fields


class CreatedWebhookSerializer(WebhookSerializer):
    """A webhook with the secret that its receiver verifies signatures with, shown this once."""

    secret = serializers.CharField(allow_null=True, read_only=True)

    class Meta(WebhookSerializer.Meta):
        fields: tuple[str, ...] = (*WebhookSerializer.Meta.fields, "secret")
        read_only_fields: tuple[str, ...] = fields


class NewWebhookSerializer(serializers.Serializer[Any]):
    """A webhook to write."""

    url = serializers.CharField(max_length=MAX_URL)
    events = serializers.ListField(
        child=serializers.ChoiceField(choices=NAMES), allow_empty=False, max_length=50
    )


class ChangedWebhookSerializer(serializers.Serializer[Any]):
    """What changes; the rest stays."""

    url = serializers.CharField(required=False, max_length=MAX_URL)
    events = serializers.ListField(
        required=False, child=serializers.ChoiceField(choices=NAMES), allow_empty=False, max_length=50
    )
    is_enabled = serializers.BooleanField(required=False)


class DeliverySerializer(serializers.ModelSerializer[WebhookDelivery]):
    """One message; ``uuid`` is its ``webhook-id``. ``next_at`` is when it is tried next."""

    state = serializers.ChoiceField(choices=list(DELIVERY_STATES), read_only=True)
    body = serializers.DictField(read_only=True)

    class Meta:
        model = WebhookDelivery
        fields: ClassVar = (
            "uuid", "event", "body", "state", "attempt", "next_at", "status_code", "last_error", "created_at",
            "ended_at",
        )  # fmt: skip
        read_only_fields = fields
