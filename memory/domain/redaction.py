"""Secrets and personal data are replaced by typed markers before anything is stored.

A marker reads ``[redacted:email]``, or ``[redacted:email:3fa2]`` when the caller gives a key: four
hex digits of a keyed hash, so that equal secrets stay recognisably equal and nothing else does.
Redacting twice changes nothing. What a string holds is decided by ``memory.domain.detectors``; this
module walks values.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from memory.domain import detectors, field_names
from memory.domain.cards import is_card
from memory.domain.detectors import Detector, InvalidPatternError, compile_pattern

__all__ = ["InvalidPatternError", "Redactor"]

MAX_PATTERNS = 50
_MAX_PASSES = 5
_CARD_MIN, _CARD_END = 10**12, 10**19
_MARKER = re.compile(r"(\[redacted:[a-z0-9_]{1,40}(?::[0-9a-f]{4})?\])")
_encode = msgspec.json.Encoder().encode


class Redactor:
    """Redacts JSON values. Build one a workspace and keep it: building compiles the patterns.

    ``key``: bytes that mark equal secrets alike (at most 64). ``fields``: more names of fields whose
    values are secret. ``patterns``: name -> regular expression in RE2's language (linear time by
    construction, so a workspace cannot hang the server); it is applied to every string.
    ``allow``: exact strings that stay, or ``@example.org`` for every address there.

    Raises InvalidPatternError for a name or an expression that is not accepted.
    """

    def __init__(
        self,
        *,
        key: bytes = b"",
        fields: Iterable[str] = (),
        patterns: Mapping[str, str] | None = None,
        allow: Iterable[str] = (),
    ) -> None:
        if patterns and len(patterns) > MAX_PATTERNS:
            raise InvalidPatternError(f"At most {MAX_PATTERNS} patterns are accepted.")
        self._key = key
        self._fields = frozenset(field_names.plain_name(name) for name in fields)
        self._own = tuple(compile_pattern(name, source) for name, source in (patterns or {}).items())
        self._allow = frozenset(text.casefold() for text in allow)
        self._field_kinds: dict[str, str] = {}

    def redact(self, value: Any) -> tuple[Any, dict[str, int]]:
        """Return the value without its secrets, and how many were replaced, by kind.

        The value is JSON-like (dict, list, str, int, float, bool, None); it is not changed in place,
        and is returned itself when nothing was found.
        """
        counts: dict[str, int] = {}
        return self.scrub(value, _encode(value), counts), counts

    def scrub(self, value: Any, encoded: bytes, counts: dict[str, int]) -> Any:
        """Like ``redact`` for a caller that has the JSON already; ``counts`` is added to.

        ``encoded`` may be JSON of something larger that contains ``value``. One linear pass over it
        decides which detectors are run at all.
        """
        found = detectors.candidates(encoded)
        if not found and not self._own and not self._fields:
            return value
        return _Walk(self, found + self._own, counts).value(value)

    def field_kind(self, name: str) -> str:
        """The kind of secret a field of this name holds, empty when it holds none."""
        known = self._field_kinds.get(name)
        if known is None:
            plain = field_names.plain_name(name)
            known = "secret" if plain in self._fields else field_names.field_kind(plain)
            if len(self._field_kinds) < 10_000:  # a bound on memory, names are untrusted
                self._field_kinds[name] = known
        return known

    def allows(self, kind: str, text: str) -> bool:
        """Whether this text was declared harmless."""
        if not self._allow:
            return False
        folded = text.casefold()
        return folded in self._allow or (kind == "email" and f"@{folded.rpartition('@')[2]}" in self._allow)

    def marker(self, kind: str, text: str) -> str:
        """The text that stands for a secret."""
        if not self._key:
            return f"[redacted:{kind}]"
        return f"[redacted:{kind}:{hashlib.blake2b(text.encode(), digest_size=2, key=self._key).hexdigest()}]"


class _Walk:
    """One pass over one value."""

    def __init__(self, redactor: Redactor, active: tuple[Detector, ...], counts: dict[str, int]) -> None:
        self._redactor = redactor
        self._detectors = active
        self._counts = counts

    def value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return self._mapping(value)
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        if isinstance(value, int | float) and _CARD_MIN <= value < _CARD_END and value == int(value):
            text = str(int(value))
            return self._replace("card", text) if is_card(text) else value
        return value

    def text(self, text: str) -> str:
        """Until nothing changes: a replacement can bare what stood beside it."""
        for _ in range(_MAX_PASSES):
            before = text
            for detector in self._detectors:
                text = self._apply(detector, text)
            if text == before:
                break
        return text

    def _apply(self, detector: Detector, text: str) -> str:
        if "[redacted:" not in text:
            return detector.replace(text, self._replace)
        parts = _MARKER.split(text)
        return "".join(p if n % 2 else detector.replace(p, self._replace) for n, p in enumerate(parts))

    def _mapping(self, value: dict[Any, Any], under: str = "") -> dict[Any, Any]:
        """Two names that became the same marker stay two names."""
        result: dict[Any, Any] = {}
        for name, item in value.items():
            kept = self.text(name) if isinstance(name, str) else name
            kind = under or (self._redactor.field_kind(name) if isinstance(name, str) else "")
            while kept in result:
                kept += "~"
            result[kept] = self._secret(kind, item) if kind else self.value(item)
        return result

    def _secret(self, kind: str, value: Any) -> Any:
        """Everything below a secret field goes, but flags, nulls and the counts of tokens."""
        if isinstance(value, dict):
            return self._mapping(value, under=kind)
        if isinstance(value, list | tuple):
            return [self._secret(kind, item) for item in value]
        if value is None or isinstance(value, bool) or value == "":
            return value
        if isinstance(value, int | float):
            return value if kind == "token" else self._replace(kind, str(value))
        return value if _MARKER.fullmatch(value) else self._replace(kind, value)

    def _replace(self, kind: str, text: str) -> str:
        if self._redactor.allows(kind, text):
            return text
        self._counts[kind] = self._counts.get(kind, 0) + 1
        return self._redactor.marker(kind, text)
