"""Filters of the localization pages."""

from datetime import date
from typing import Any

from django import template
from django.utils.translation import gettext_lazy as _

from memory.domain.locating.sampling import week_name

register = template.Library()

PARTS = {
    "tags": _("Tags"), "semantic": _("Meaning"), "structure": _("Structure"),
    "agreement": _("Meaning: agreement"), "explained": _("Meaning: explained"),
    "goal": _("Goal"), "actions": _("Actions"), "reward": _("Reward"),
}  # fmt: skip
KINDS = {"found": _("found"), "template": _("template only"), "nothing": _("nothing found")}
KIND_TONES = {"found": "good", "template": "info", "nothing": "plain"}
VERDICTS = {"right": _("right"), "wrong": _("wrong"), "unsure": _("unsure")}
VERDICT_TONES = {"right": "good", "wrong": "bad", "unsure": "warn"}

REASONS = {
    "below min_score": _("below the least score"), "beyond top_k": _("others are nearer"),
    "another attempt at the same goal": _("another attempt at the same goal counts"),
    "a real path passed": _("a template, and a real path passed"),
    "says nothing of it": _("a template that has nothing to do with it"),
}  # fmt: skip


@register.filter
def reason_words(reason: str) -> Any:
    """Why a candidate is not in the answer, in words."""
    return REASONS.get(reason, reason)


@register.filter
def part_words(name: str) -> Any:
    """A part of a score in words."""
    return PARTS.get(name, name)


@register.filter
def kind_words(kind: str) -> Any:
    """What an answer was, in words."""
    return KINDS.get(kind, kind)


@register.filter
def kind_tone(kind: str) -> str:
    """The badge's class for it."""
    return KIND_TONES.get(kind, "plain")


@register.filter
def verdict_words(verdict: str) -> Any:
    """A reviewer's verdict in words."""
    return VERDICTS.get(verdict, verdict)


@register.filter
def verdict_tone(verdict: str) -> str:
    """The badge's class for it."""
    return VERDICT_TONES.get(verdict, "plain")


@register.filter
def score(value: float | None) -> str:
    """``0.7`` as ``0.70``; nothing for None."""
    return "" if value is None else f"{value:.2f}"


@register.filter
def week(monday: date) -> str:
    """``2026-W48``."""
    return week_name(monday)
