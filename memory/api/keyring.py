"""Keys of this process: a request costs no query, a revoked key stops within a second.

Entries are trusted for ``FRESH_S`` seconds and then looked up again, so a revocation is seen by every
process within that time. Last use is written by the worker from marks, never inside a request.
"""

import threading
import time

from django.utils import timezone

from memory.domain.access import Actor
from memory.domain.keys import digest_key
from memory.models import ApiKey
from memory.permissions import key_actor

FRESH_S = 1.0
MAX_ENTRIES = 10_000


class Keyring:
    """A bounded map from key digest to (actor, expiry, checked at)."""

    def __init__(self) -> None:
        self._entries: dict[str, tuple[Actor | None, float, float]] = {}
        self._used: dict[str, float] = {}
        self._lock = threading.Lock()

    def find(self, secret: str) -> Actor | None:
        """The actor of a usable key, or None. One query when the entry is older than ``FRESH_S``."""
        digest = digest_key(secret)
        entry = self._entries.get(digest)
        now = time.monotonic()
        if entry is None or now - entry[2] > FRESH_S:
            entry = self._look_up(digest, now)
        actor, expires, _ = entry
        if actor is None or (expires and time.time() >= expires):
            return None
        self._used[actor.uuid] = time.time()
        return actor

    def _look_up(self, digest: str, now: float) -> tuple[Actor | None, float, float]:
        key = ApiKey.objects.usable(timezone.now()).filter(digest=digest).first()
        entry = (
            key_actor(key) if key else None,
            key.expires_at.timestamp() if key and key.expires_at else 0.0,
            now,
        )
        with self._lock:
            if len(self._entries) >= MAX_ENTRIES:
                self._entries.clear()
            self._entries[digest] = entry
        return entry

    def take_used(self) -> dict[str, float]:
        """Key uuids with the time (Unix seconds) of their last use since the last take."""
        with self._lock:
            used, self._used = self._used, {}
        return used

    def forget(self) -> None:
        """Drop every entry (tests, and a change of keys in this very process)."""
        with self._lock:
            self._entries.clear()


KEYRING = Keyring()
find_key = KEYRING.find
