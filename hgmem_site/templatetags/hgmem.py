"""Filters of our pages: JSON for people, rates, the tone of a word."""

import json
from datetime import datetime
from typing import Any

from django import template
from django.utils.timesince import timesince
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from memory.domain.paths.keys import variant_of
from memory.domain.payloads import is_reference
from memory.domain.trends import Rate

register = template.Library()

TONES = {
    "success": "good", "ok": "good", "active": "good", "covered": "good", "done": "good", "on": "good",
    "applied": "good", "failure": "bad", "error": "bad", "timeout": "bad", "failed": "bad", "revoked": "bad",
    "open": "warn", "rejected": "warn", "cancelled": "warn", "expired": "warn", "suppressed": "warn",
    "late": "warn", "down": "bad", "running": "info", "planned": "info", "draft": "info", "matched": "info",
    "retry": "warn", "pending": "info", "canary": "info",
}  # fmt: skip
WORDS = {
    gettext_noop("success"), gettext_noop("ok"), gettext_noop("active"), gettext_noop("covered"),
    gettext_noop("failure"), gettext_noop("error"), gettext_noop("open"), gettext_noop("ignored"),
    gettext_noop("unknown"), gettext_noop("draft"), gettext_noop("disabled"), gettext_noop("expired"),
    gettext_noop("retired"), gettext_noop("rejected"), gettext_noop("cancelled"), gettext_noop("timeout"),
    gettext_noop("on"), gettext_noop("off"), gettext_noop("revoked"), gettext_noop("applied"),
    gettext_noop("suppressed"), gettext_noop("matched"), gettext_noop("done"), gettext_noop("failed"),
    gettext_noop("running"), gettext_noop("planned"), gettext_noop("retry"), gettext_noop("pending"),
    gettext_noop("template"), gettext_noop("historical"), gettext_noop("task"), gettext_noop("subtask"),
    gettext_noop("tool"), gettext_noop("run"), gettext_noop("hand"), gettext_noop("import"),
    gettext_noop("rewrite"), gettext_noop("built"), gettext_noop("use"), gettext_noop("penalty"),
    gettext_noop("rollback"), gettext_noop("person"), gettext_noop("canary"),
}  # fmt: skip
SHOWN = 20_000
SHOWN_COMPACT = 300


@register.filter
def tone(word: str) -> str:
    """The badge's class for a status word; colour is never the only sign, the word stands in it."""
    return TONES.get(word, "plain")


@register.filter
def word(text: str) -> str:
    """A status word in the reader's language, where there is one."""
    return _(text) if text in WORDS else text


VARIANTS = {
    ("task", False): gettext_noop("walk"), ("task", True): gettext_noop("part of a walk"),
    ("success", False): gettext_noop("without detours"),
    ("success", True): gettext_noop("part of a way without detours"),
    ("path", True): gettext_noop("part of a path"), ("template", True): gettext_noop("part of a template"),
}  # fmt: skip
"""Which way of a task a path is, by :func:`variant_of` its key."""


@register.filter
def variant(key: str) -> str:
    """What tells the paths of one task apart, in the reader's language; "" where there is nothing to tell."""
    text = VARIANTS.get(variant_of(key))
    return _(text) if text else ""


@register.filter
def pretty(value: Any) -> str:
    """JSON for people: indented, in its own script; a text that holds JSON is shown as JSON. Never HTML."""
    if isinstance(value, str):
        value = _as_json(value)
    text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}\n… ({len(text)} characters)"


@register.filter
def compact(value: Any) -> str:
    """JSON in one line, cut where it is long. Never HTML."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN_COMPACT else f"{text[:SHOWN_COMPACT]}…"


def _as_json(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


@register.filter
def is_payload(value: Any) -> bool:
    """Whether a stored value stands for a large one kept apart."""
    return is_reference(value)


@register.filter
def payload_digest(value: dict[str, Any]) -> str:
    """Under which digest the large value is kept."""
    return str(value["$payload"])


@register.filter
def moment(text: str) -> datetime:
    """A time that is kept as ISO 8601 text in a JSON document."""
    return datetime.fromisoformat(text)


@register.filter
def up_to(count: int, most: int) -> str:
    """A count that stopped one above ``most``: ``1,000+``."""
    return f"{most:,}+" if count > most else f"{count:,}"


@register.filter
def percent(share: float) -> str:
    """``0.1234`` as ``12.3 %``."""
    return f"{100 * share:.1f} %"


@register.filter
def interval(rate: Rate) -> str:
    """The 95 % interval of a rate."""
    return f"{100 * rate.low:.1f}–{100 * rate.high:.1f} %"


@register.filter
def took(start: datetime, end: datetime) -> str:
    """From start to end: seconds below two minutes, then in words."""
    seconds = (end - start).total_seconds()
    return milliseconds(1000 * seconds) if seconds < 120 else timesince(start, end)


@register.filter
def milliseconds(value: float | None) -> str:
    """A duration in the unit that reads best."""
    if value is None:
        return ""
    return f"{value / 1000:.1f} s" if value >= 1000 else f"{value:.0f} ms"
