"""Filters of the canary pages: states, arms and events in words; E-values and shares for people."""

from math import log
from typing import Any

from django import template

from corrections.domain.canary_figures import QUIET, e_value, share_text
from corrections.web import canary_words as words

register = template.Library()


@register.filter
def canary_state(state: str) -> Any:
    """A canary's state in the reader's language."""
    return words.STATES.get(state, state)


@register.filter
def canary_tone(state: str) -> str:
    """The badge's class for it."""
    return words.TONES.get(state, "plain")


@register.filter
def canary_sentence(state: str) -> Any:
    """What the state means for tasks."""
    return words.STATE_SENTENCES.get(state, "")


@register.filter
def arm_words(arm: str, is_edit: bool = False) -> Any:
    """An arm in words: with or without the rule, or which version it got."""
    known = words.ARMS | words.EDIT_ARMS if is_edit else words.ARMS
    return known.get(arm, arm)


@register.filter
def phase_words(phase: str) -> Any:
    """What a stage is for."""
    return words.PHASES.get(phase, phase)


@register.filter
def guardrail_words(name: str) -> Any:
    """A guardrail in words."""
    return words.GUARDRAILS.get(name, name)


@register.filter
def event_words(kind: str) -> Any:
    """What was decided, in words."""
    return words.EVENTS.get(kind, kind)


@register.filter
def event_tone(kind: str) -> str:
    """The badge's class for it."""
    return words.EVENT_TONES.get(kind, "plain")


@register.filter
def share(buckets: int) -> str:
    """A share in buckets of 10,000 as a percentage."""
    return share_text(buckets)


@register.filter
def e_of(log_e: float | None) -> str:
    """An E-value, from its natural logarithm; a dash where nothing was tested."""
    return "—" if log_e is None else e_value(log_e)


@register.filter
def e_raw(value: float) -> str:
    """An E-value for people."""
    return e_value(log(value)) if value > 0 else "0"


@register.filter
def is_loud(value: float) -> bool:
    """Whether a guardrail's E-value speaks up."""
    return value >= QUIET


@register.filter
def points(value: float | None) -> str:
    """Points of a hundred, with their sign."""
    return "—" if value is None else f"{value:+.1f}"


@register.filter
def events_shown(numbers: Any) -> list[tuple[str, Any]]:
    """The numbers of a decision, one after the other; long ones are cut."""
    if not isinstance(numbers, dict):
        return []
    return [(name, _short(value)) for name, value in numbers.items() if value is not None]


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_short(part)}" for name, part in value.items())[:300]
    return str(value)[:300]
