"""Filters of the review pages: statuses and triggers in words, who decides."""

from typing import Any

from django import template

from memory.queries.rewrites import OPEN_STATUSES
from memory.web.rewrite_forms import STATUSES, TRIGGERS

register = template.Library()

TONES = {
    "proposed": "info", "needs_human": "warn", "given_up": "warn", "approved": "good", "rejected": "bad",
}  # fmt: skip
STATUS_WORDS = dict(STATUSES)
TRIGGER_WORDS = dict(TRIGGERS)


@register.filter
def proposal_status(status: str) -> Any:
    """A proposal's status in the reader's language."""
    return STATUS_WORDS.get(status, status)


@register.filter
def proposal_tone(status: str) -> str:
    """The badge's class for it."""
    return TONES.get(status, "plain")


@register.filter
def trigger(name: str) -> Any:
    """Why a rewrite was asked for, in the reader's language."""
    return TRIGGER_WORDS.get(name, name)


@register.filter
def words(text: str) -> list[str]:
    """The words of a text, to loop over."""
    return text.split()


@register.filter
def is_open(status: str) -> bool:
    """Whether a person may still decide on it."""
    return status in OPEN_STATUSES
