"""Which failures are the same mistake: tool, error type, masked message, offending name, scope.

Masking alone is too coarse (a dozen templates cover every SQL error) and the whole text too fine (no
amount comes twice). So the message is masked, and the one name it *blames* is kept beside it: a quoted
word, a named field, or a code that also stands in the call. Names mean something only where they live,
so a pattern with a name carries its scope; one without is about the tool.

The key is a pure function of the (redacted) content: importing the same runs again gives the same
patterns. Nothing here knows a tool, a language or a domain.
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from memory.domain.failures import FailureFinding
from memory.domain.messages import CallWords, MaskedMessage, mask_message, words_of

SCOPE_FIELDS = ("domain", "site", "database", "project")
MAX_TEMPLATE = 400
MAX_IDENTIFIER = 120
MAX_TITLE = 160
MAX_BLAMED = 50
MAX_INPUT_CHARS = 40_000
MIN_VALUE, MAX_VALUE, MAX_VALUES = 3, 80, 200
_VERSION = b"1"


class PatternKey(msgspec.Struct, frozen=True):
    """One mistake. ``fingerprint`` (32 hex digits) is its identity within a workspace."""

    tool: str
    error_type: str
    template: str
    identifier: str
    scope: str
    fingerprint: str
    title: str


def pattern_of(
    tool: str, failure: FailureFinding, call_input: Mapping[str, Any], env: Mapping[str, Any]
) -> PatternKey:
    """Return the pattern of a failure.

    ``env`` is the task's environment; its first field of ``SCOPE_FIELDS`` that is a text is the scope.
    """
    masked = mask_message(failure.message, _words_of_input(call_input))
    template = masked.template[:MAX_TEMPLATE]
    identifier = masked.identifier[:MAX_IDENTIFIER]
    scope = _scope(env) if identifier else ""
    parts = (tool, failure.error_type, template, identifier, scope)
    return PatternKey(
        tool=tool,
        error_type=failure.error_type,
        template=template,
        identifier=identifier,
        scope=scope,
        fingerprint=fingerprint(*parts),
        title=_title(tool, failure, masked, scope),
    )


def fingerprint(tool: str, error_type: str, template: str, identifier: str, scope: str) -> str:
    """The identity of a pattern: BLAKE2b over its five parts, 32 hex digits."""
    encoded = msgspec.json.encode((tool, error_type, template, identifier, scope))
    return hashlib.blake2b(encoded, digest_size=16, person=_VERSION).hexdigest()


def _scope(env: Mapping[str, Any]) -> str:
    for name in SCOPE_FIELDS:
        value = env.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()[:200]
    return ""


def _words_of_input(call_input: Mapping[str, Any]) -> CallWords:
    names: set[str] = set()
    words: set[str] = set()
    values: set[str] = set()
    left = MAX_INPUT_CHARS
    for is_name, text in _texts(call_input):
        if is_name:
            names.add(text.casefold())
        elif left > 0:
            words |= words_of(text[:left])
            left -= len(text)
            if MIN_VALUE <= len(text) <= MAX_VALUE and len(values) < MAX_VALUES:
                values.add(text.casefold())
    return CallWords(frozenset(names), frozenset(words), frozenset(values))


def _texts(value: Any) -> Iterator[tuple[bool, str]]:
    """Every text of a value; True marks the name of a field."""
    if isinstance(value, str):
        yield False, value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield True, str(name)
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield False, str(value)


def _title(tool: str, failure: FailureFinding, masked: MaskedMessage, scope: str) -> str:
    """One readable line: the tool, what the message says with its literals left out, where."""
    kind = (
        ""
        if failure.error_type.casefold() in (masked.readable.casefold(), "error", "")
        else failure.error_type
    )
    said = masked.readable if not kind or kind in masked.readable else f"{kind}: {masked.readable}"
    where = f" ({scope})" if scope and scope not in masked.readable else ""
    room = MAX_TITLE - len(tool[:MAX_BLAMED]) - len(where[:MAX_BLAMED]) - 2
    if len(said) > room:
        blamed = masked.identifier[:MAX_BLAMED]
        tail = f"… {blamed}" if blamed and blamed not in said[: room - 1] else "…"
        said = said[: max(room - len(tail), 20)].rstrip() + tail
    return f"{tool[:MAX_BLAMED]}: {said}{where[:MAX_BLAMED]}"
