"""The keys that sign receipts: one for each workspace, made from the secret key."""

import hashlib
import hmac
from functools import cache

from django.conf import settings

from hgmem import receipts as tokens


def receipt_key(workspace_id: int) -> bytes:
    """The key new receipts of a workspace are signed with."""
    return _derive(settings.SECRET_KEY, workspace_id)


def receipt_keys(workspace_id: int) -> list[bytes]:
    """All keys a receipt of the workspace may be signed with: the secret key was changed with fallbacks."""
    return [_derive(secret, workspace_id) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]


def verified(token: str, workspace_id: int) -> tokens.Receipt | None:
    """A token's receipt when it is genuine and of this workspace (each signs with its own key)."""
    for key in receipt_keys(workspace_id):
        try:
            return tokens.read_receipt(token, key)
        except tokens.ReceiptError:
            continue
    return None


@cache
def _derive(secret: str, workspace_id: int) -> bytes:
    return hmac.digest(secret.encode(), b"receipt:%d" % workspace_id, hashlib.sha256)
