"""The keys that sign receipts: one for each workspace, made from the secret key."""

import hashlib
import hmac
from functools import cache

from django.conf import settings

from hgmem import receipts as tokens
from hgmem.signatures import LOCAL_RECEIPT, derive_key
from memory.queries.api_keys import key_digest

LOCAL_DOTS = 2
MAX_DIGESTS = 10_000
_DIGESTS: dict[tuple[int, str], str] = {}


def receipt_key(workspace_id: int) -> bytes:
    """The key new receipts of a workspace are signed with."""
    return _derive(settings.SECRET_KEY, workspace_id)


def receipt_keys(workspace_id: int) -> list[bytes]:
    """All keys a receipt of the workspace may be signed with: the secret key was changed with fallbacks."""
    return [_derive(secret, workspace_id) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]


def verified(token: str, workspace_id: int) -> tokens.Receipt | None:
    """A token's receipt when it is genuine and of this workspace (each signs with its own key)."""
    for key in _keys(token, workspace_id):
        try:
            return tokens.read_receipt(own_part(token), key)
        except tokens.ReceiptError:
            continue
    return None


def own_part(token: str) -> str:
    """A token without the name of the API key that made it."""
    return token.rpartition(".")[0] if is_local(token) else token


def _keys(token: str, workspace_id: int) -> list[bytes]:
    """The workspace's own keys; for a token that an agent made itself (three parts) that of its API key."""
    if token.count(".") != LOCAL_DOTS:
        return receipt_keys(workspace_id)
    digest = _digest_of(workspace_id, token.rpartition(".")[2])
    return [derive_key(digest, LOCAL_RECEIPT)] if digest else []


def is_local(token: str) -> bool:
    """Whether a token claims to be made in an agent's process."""
    return token.count(".") == LOCAL_DOTS


def _digest_of(workspace_id: int, prefix: str) -> str:
    """The digest of a key of the workspace. It never changes, so one that was found is remembered."""
    found = _DIGESTS.get((workspace_id, prefix), "")
    if not found:
        found = key_digest(workspace_id, prefix)
        if found:
            if len(_DIGESTS) >= MAX_DIGESTS:
                _DIGESTS.clear()
            _DIGESTS[workspace_id, prefix] = found
    return found


@cache
def _derive(secret: str, workspace_id: int) -> bytes:
    return hmac.digest(secret.encode(), b"receipt:%d" % workspace_id, hashlib.sha256)
