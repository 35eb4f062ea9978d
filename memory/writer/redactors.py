"""The redactor of each workspace, built once and kept while its settings stay the same."""

import hashlib
import logging
import time
from dataclasses import dataclass
from typing import Any

import msgspec
from django.conf import settings

from memory.domain.redaction import InvalidPatternError, Redactor
from memory.models import Workspace

FRESH_S = 1.0
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Scrub:
    """How a workspace's documents are redacted, and the key of its digests."""

    redactor: Redactor
    key: bytes
    source: bytes
    checked: float


_known: dict[int, Scrub] = {}


def scrub_for(workspace_id: int) -> Scrub:
    """The workspace's redactor. Its settings are read again when they are older than ``FRESH_S`` seconds.

    ``Workspace.settings["redaction"]`` holds ``fields``, ``patterns`` and ``allow`` (see
    :class:`~memory.domain.redaction.Redactor`). Raises Workspace.DoesNotExist.
    """
    known, now = _known.get(workspace_id), time.monotonic()
    if known and now - known.checked < FRESH_S:
        return known
    workspace = Workspace.objects.only("uuid", "settings").get(pk=workspace_id)
    options = workspace.settings.get("redaction", {})
    source = workspace.uuid.bytes + msgspec.json.encode(options, order="deterministic")
    if known and known.source == source:
        fresh = Scrub(known.redactor, known.key, source, now)
    else:
        key = hashlib.blake2b(workspace.uuid.bytes, key=_secret(), digest_size=32).digest()
        fresh = Scrub(_build(options, key), key, source, now)
    _known[workspace_id] = fresh
    return fresh


def forget_redactors() -> None:
    """Read every workspace's settings again (tests, and a change of settings in this very process)."""
    _known.clear()


def _secret() -> bytes:
    return hashlib.sha256(settings.REDACTION_KEY.encode()).digest()


def _build(options: dict[str, Any], key: bytes) -> Redactor:
    """One pattern that cannot be used must not switch the others off, nor stop the recording."""
    patterns: dict[str, str] = {}
    for name, source in options.get("patterns", {}).items():
        try:
            Redactor(patterns={name: source})
        except InvalidPatternError as error:
            log.error("Redaction pattern %r is not used: %s", name, error)
        else:
            patterns[name] = source
    return Redactor(
        key=key, fields=options.get("fields", ()), patterns=patterns, allow=options.get("allow", ())
    )
