"""The client that guarded tools use when they are given none."""

import threading
from typing import Any

from hgmem.runtime.client import Client

_lock = threading.Lock()
_client: Client | None = None


def configure(url: str | None = None, key: str | None = None, **settings: Any) -> Client:
    """Set the default client up; whatever it was before is closed.

    ``hgmem.configure(url="https://hgmem.example.org", key="hgm_...")``. Without this, the first guarded call
    makes it from the environment. Raises :class:`~hgmem.api.errors.ConfigError`.
    """
    global _client
    made = Client(url, key, **settings)
    with _lock:
        old, _client = _client, made
    if old is not None:
        old.close()
    return made


def default_client() -> Client:
    """The default client, made from the environment at the first use."""
    global _client  # noqa: PLW0603 - this is the one place for it
    found = _client
    if found is None:
        with _lock:
            found = _client = _client or Client()
    return found
