"""API keys as strings."""

from hgmem.signatures import digest_key

__all__ = ["KEY_PREFIX", "digest_key"]

KEY_PREFIX = "hgm_"
