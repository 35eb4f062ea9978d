"""Keys of this process: a request with a known key costs no query, a revoked key stops within a second.

A background thread looks all known keys up again, in one query, every ``POLL_S`` seconds. While the
database is away the keys known so far go on working: nobody can revoke one then either. Last use is
written by the same thread from marks, every ``MARK_S`` seconds, never inside a request.
"""

import threading
import time
from collections.abc import Iterator

from django.db import close_old_connections, connections
from django.utils import timezone

from hgmem.periodic import Periodic
from memory.actions.accounts import mark_keys_used
from memory.domain.access import Actor
from memory.domain.keys import digest_key
from memory.models import ApiKey
from memory.permissions import key_actor

POLL_S = 0.4
UNKNOWN_S = 1.0
MARK_S = 15.0
MAX_ENTRIES = 10_000
CHUNK = 500

Entry = tuple[Actor, float]
"""The actor of a usable key, and when it expires (Unix seconds, 0 for never)."""


class Keyring:
    """Bounded maps from key digests to actors, and of digests that were found to be no key."""

    def __init__(self) -> None:
        self.poller = Periodic("keyring-poller", POLL_S, self._poll, at_end=connections.close_all)
        self._known: dict[str, Entry] = {}
        self._unknown: dict[str, float] = {}
        self._used: dict[str, float] = {}
        self._marked_at = 0.0
        self._lock = threading.Lock()

    def find(self, secret: str) -> Actor | None:
        """The actor of a usable key, or None. A key this process has not met lately costs one query."""
        digest = digest_key(secret)
        if not self.poller.running:
            self.poller.start()
            if not self.poller.running:  # no threads here (tests): look each time
                self._known.pop(digest, None)
                self._unknown.pop(digest, None)
        entry = self._known.get(digest) or self._meet(digest)
        if entry is None:
            return None
        actor, expires = entry
        now = time.time()
        if expires and now >= expires:
            return None
        self._used[actor.uuid] = now
        return actor

    def refresh(self) -> None:
        """Look every known key up again: one query for each ``CHUNK`` of them."""
        before = list(self._known)
        found = dict(_look_up(before))
        with self._lock:
            for digest in before:
                if digest in found:
                    self._known[digest] = found[digest]
                else:
                    self._known.pop(digest, None)

    def _poll(self) -> None:
        close_old_connections()
        self.refresh()
        if time.monotonic() - self._marked_at >= MARK_S:
            self.mark_used()

    def mark_used(self) -> int:
        """Write when the keys of this process were last used; how many rows changed."""
        self._marked_at = time.monotonic()
        return mark_keys_used(used=self.take_used())

    def _meet(self, digest: str) -> Entry | None:
        refused_at = self._unknown.get(digest)
        now = time.monotonic()
        if refused_at is not None and now - refused_at < UNKNOWN_S:
            return None
        entry = next((entry for _, entry in _look_up([digest])), None)
        with self._lock:
            for entries in (self._known, self._unknown):
                if len(entries) >= MAX_ENTRIES:
                    entries.clear()
            if entry is None:
                self._unknown[digest] = now
            else:
                self._known[digest] = entry
        return entry

    def take_used(self) -> dict[str, float]:
        """Key uuids with the time (Unix seconds) of their last use since the last take."""
        with self._lock:
            used, self._used = self._used, {}
        return used

    def forget(self) -> None:
        """Drop every entry (tests, and a change of keys in this very process)."""
        with self._lock:
            self._known.clear()
            self._unknown.clear()


def _look_up(digests: list[str]) -> Iterator[tuple[str, Entry]]:
    for start in range(0, len(digests), CHUNK):
        chunk = digests[start : start + CHUNK]
        for key in ApiKey.objects.usable(timezone.now()).filter(digest__in=chunk):
            yield key.digest, (key_actor(key), key.expires_at.timestamp() if key.expires_at else 0.0)


KEYRING = Keyring()
find_key = KEYRING.find
