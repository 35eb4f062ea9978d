"""Filters of the review pages: statuses and triggers in words, who decides."""

from typing import Any

from django import template

from memory.models import Alert, RewriteProposal
from memory.queries.rewrites import OPEN_STATUSES
from memory.web.rewrite_forms import STATUSES, TRIGGERS
from memory.web.rewrite_words import check_text, guard_text, signal_text, storm_text

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


@register.filter
def check_said(check: dict[str, Any], storm: Alert | None) -> str:
    """What a check of the guard says, in the reader's language; an open storm says why it is paused."""
    return check_text(check, storm_text(storm.detail) if storm else "")


@register.filter
def guard_said(guard: dict[str, Any], storm: Alert | None) -> str:
    """What the guard says, in the reader's language."""
    return guard_text(guard, storm_text(storm.detail) if storm else "")


@register.filter
def handed_over(proposal: RewriteProposal, storm: Alert | None) -> str:
    """Why a person decides: the guard's verdict, or what went wrong since."""
    error, guard = proposal.last_error, proposal.guard
    is_verdict = not error or str(guard.get("said", "")).startswith(error)
    return guard_said(guard, storm) if guard and is_verdict else error


@register.filter
def signal_said(signal: dict[str, Any]) -> str:
    """What a signal of the storm watch says, in the reader's language."""
    return signal_text(signal)


@register.filter
def pause_said(reason: str, storm: Alert | None) -> str:
    """Why rewriting is paused: what the storm says in the reader's language, else the stored reason."""
    return (storm_text(storm.detail) if storm else "") or reason
