"""The keys that sign messages to webhooks: derived from the server's secret key, so no backup holds them."""

import hashlib
import hmac
from uuid import UUID

from django.conf import settings


def webhook_key(uuid: UUID, number: int) -> bytes:
    """The signing key of a webhook: HMAC-SHA256 of its name under the secret key. 32 bytes."""
    name = f"webhook:{uuid}:{number}".encode()
    return hmac.digest(settings.SECRET_KEY.encode(), name, hashlib.sha256)
