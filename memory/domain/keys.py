"""API keys as strings."""

import hashlib

KEY_PREFIX = "hgm_"


def digest_key(secret: str) -> str:
    """SHA-256, hex. Keys carry 256 bits of randomness, so a slow hash would add cost and no safety."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
