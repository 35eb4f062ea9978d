"""The rules of a workspace as one document for agents that decide themselves, made once for each stamp."""

import gzip
import hashlib
import threading
from dataclasses import dataclass

import orjson

from corrections.live.rulesets import LiveRuleset, ruleset_for
from hgmem.signatures import BUNDLE_FORMAT
from memory.queries.workspaces import get_workspace

MAX_KEPT = 20
"""Workspaces whose document is kept; another one is made again when it is asked for."""


@dataclass(frozen=True, slots=True)
class ServedBundle:
    """A document with its ETag, its SHA-256 (hex, which signatures are made of) and its compressed form."""

    etag: str
    body: bytes
    digest: str
    packed: bytes


class Bundles:
    """The documents of this process. One is made when somebody fetches it, never by the poller."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[int, ServedBundle]] = {}
        self._making = threading.Lock()

    def get(self, workspace_id: int) -> ServedBundle:
        """The document of the rules that are served now."""
        live = ruleset_for(workspace_id)
        kept = self._kept.get(workspace_id)
        if kept is not None and kept[0] == live.stamp:
            return kept[1]
        with self._making:
            kept = self._kept.get(workspace_id)
            if kept is None or kept[0] != live.stamp:
                if len(self._kept) >= MAX_KEPT:
                    self._kept.clear()
                kept = self._kept[workspace_id] = (live.stamp, _make(live))
        return kept[1]

    def forget(self) -> None:
        """Drop everything (tests)."""
        self._kept.clear()


def _make(live: LiveRuleset) -> ServedBundle:
    slug = get_workspace(live.workspace_id).slug
    rules = [rule.to_document() for rule in live.parsed.values()]
    body = orjson.dumps({"format": BUNDLE_FORMAT, "version": live.version, "workspace": slug, "rules": rules})
    digest = hashlib.sha256(body).hexdigest()
    etag = f'"{BUNDLE_FORMAT}-{live.version}-{digest[:16]}"'  # a restored backup may have a stamp again
    return ServedBundle(etag, body, digest, gzip.compress(body, compresslevel=5, mtime=0))


BUNDLES = Bundles()
