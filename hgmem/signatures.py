"""Keys that a client and the server make alike from an API key, without sending them.

Both know the SHA-256 of the API key: the server keeps nothing else of it. A key for a purpose is
HMAC-SHA256(digest in hex, purpose).
"""

import hashlib
import hmac
from typing import Final

LOCAL_RECEIPT: Final = b"hgmem local receipt"
"""Signs receipts of decisions that are made in the agent's process."""
RULESET_BUNDLE: Final = b"hgmem ruleset bundle"
"""Signs the document of served rules."""
BUNDLE_FORMAT: Final = 1
PREFIX_CHARS: Final = 12
"""Characters of an API key that are public; a local receipt ends with them."""


def digest_key(secret: str) -> str:
    """SHA-256, hex. Keys carry 256 bits of randomness, so a slow hash would add cost and no safety."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def derive_key(digest: str, purpose: bytes) -> bytes:
    """A key of 32 bytes for a purpose, from the digest of an API key."""
    return hmac.digest(digest.encode(), purpose, "sha256")


def sign_digest(body_digest: str, key: bytes) -> str:
    """The signature header of a body with this SHA-256 (hex): ``v1=`` and HMAC-SHA256, hex."""
    return "v1=" + hmac.digest(key, body_digest.encode(), "sha256").hex()


def sign_body(body: bytes, key: bytes) -> str:
    """The signature header of a body."""
    return sign_digest(hashlib.sha256(body).hexdigest(), key)
