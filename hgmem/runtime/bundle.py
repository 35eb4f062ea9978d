"""The bundle of compiled rules: read, checked, compiled, kept on disk.

The server signs the body with a key made from the API key's digest, so that neither a proxy nor another user
of this machine can plant rules: a copy on disk counts only with its signature.
"""

import hashlib
import hmac
import json
import logging
import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hgmem.api.errors import BadAnswer
from hgmem.api.settings import Settings
from hgmem.rules import Rule, RuleError, Ruleset
from hgmem.signatures import BUNDLE_FORMAT, RULESET_BUNDLE, sign_body

log = logging.getLogger(__name__)
SIGNATURE: Final = "hgmem-signature"
_SLICE: Final = 20


@dataclass(frozen=True, slots=True)
class Bundle:
    """Compiled rules of one stamp. ``known`` are the parsed ones by the digest of their text."""

    etag: str
    version: str
    workspace: str
    ruleset: Ruleset
    known: Mapping[bytes, Rule] = field(repr=False)


def read_bundle(
    body: bytes, signature: str, etag: str, settings: Settings, base: Bundle | None = None
) -> Bundle:
    """Check and compile a bundle. What has not changed since ``base`` is taken from it.

    A rule of a kind that this version of the library does not know is left out, with a log line.

    Raises:
        BadAnswer: the signature is wrong, or it is no bundle.
    """
    if not hmac.compare_digest(sign_body(body, settings.derived_key(RULESET_BUNDLE)), signature):
        raise BadAnswer("The signature of the rules is wrong; they are not used.")
    try:
        document = json.loads(body)
        if document["format"] != BUNDLE_FORMAT:
            raise BadAnswer(f"The rules have the format {document['format']!r}: update hgmem.")
        version, workspace, items = str(document["version"]), str(document["workspace"]), document["rules"]
    except (ValueError, KeyError, TypeError) as error:
        raise BadAnswer(f"The rules cannot be read: {error}") from None
    known = _parse(items, base.known if base else {})
    ruleset = Ruleset.compile(known.values(), version=version, base=base.ruleset if base else None)
    for broken in ruleset.broken:
        log.warning("Rule %s version %s is left out: %s", broken.uuid, broken.version, broken.detail)
    return Bundle(etag, version, workspace, ruleset, known)


def _parse(items: list[Any], ready: Mapping[bytes, Rule]) -> dict[bytes, Rule]:
    """Rules by digest; the very same objects where the text is the same, which spares compiling them."""
    known: dict[bytes, Rule] = {}
    for number, item in enumerate(items):
        if number % _SLICE == 0:
            time.sleep(0)  # the agent's own threads come first
        text = json.dumps(item, sort_keys=True, separators=(",", ":"))
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        try:
            known[digest] = ready.get(digest) or Rule.from_document(item)
        except RuleError as error:
            uuid = item.get("uuid") if isinstance(item, dict) else "?"
            log.warning("Rule %s cannot be read by this version and is left out: %s", uuid, error)
    return known


class BundleFile:
    """The last good bundle of one server and key, on disk (mode 0600)."""

    def __init__(self, settings: Settings) -> None:
        self.path = settings.home / f"rules-{settings.destination(settings.key_prefix)}.bundle"

    def save(self, body: bytes, signature: str, etag: str) -> None:
        """Replace the copy, whole or not at all. A disk that refuses is logged: the rules are in memory."""
        head = json.dumps({"signature": signature, "etag": etag}).encode()
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=".rules-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(head + b"\n" + body)
                os.replace(name, self.path)
            except OSError:
                os.unlink(name)
                raise
        except OSError as error:
            log.warning("The rules cannot be kept in %s: %s", self.path.parent, error)

    def load(self, settings: Settings) -> tuple[Bundle, float] | None:
        """The copy, and when it was saved (Unix seconds). None where there is none that can be trusted."""
        try:
            saved_at = self.path.stat().st_mtime
            head, _, body = self.path.read_bytes().partition(b"\n")
            said = json.loads(head)
            return read_bundle(body, str(said["signature"]), str(said["etag"]), settings), saved_at
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, BadAnswer) as error:
            log.warning("The copy of the rules in %s is not used: %s", self.path, error)
            return None
