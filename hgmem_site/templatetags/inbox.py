"""Filters of the review inbox: kinds in words, and why an item waits."""

from typing import Any

from django import template
from django.utils.translation import gettext as _

from corrections.actions.inbox_decisions import verbs_of
from corrections.queries.inbox_kinds import Item
from corrections.web.forms.reviewing import KIND_WORDS
from hgmem_site.templatetags.review import proposal_status

register = template.Library()

TONES = {"alert": "bad", "conflict": "warn", "impact": "warn", "canary": "warn", "stale": "plain"}


@register.filter
def kind_word(kind: str) -> Any:
    """A kind of item in the reader's language."""
    return KIND_WORDS.get(kind, kind)


@register.filter
def kind_tone(kind: str) -> str:
    """The badge's class for it."""
    return TONES.get(kind, "info")


@register.filter
def waits_because(item: Item) -> str:
    """Why an item waits, in the reader's language where it is not somebody's own words."""
    if item.kind == "rewrite" and item.brief.state != "proposed":
        return f"{proposal_status(item.brief.state)}. {item.brief.why}"
    if item.kind == "proposal":
        caught, _slash, failures = item.brief.why.partition("/")
        return _("catches %(k)s of %(n)s past failures") % {"k": caught, "n": failures}
    return item.brief.why


@register.filter
def approve_word(kind: str) -> str:
    """What approving an item of this kind is called on its button."""
    words = {"stale": _("Still right…"), "canary": _("Promote…")}
    return words.get(kind, _("Approve…"))


@register.filter
def reject_word(kind: str) -> str:
    """What rejecting an item of this kind is called on its button."""
    if kind == "conflict":
        return _("Accept as it is…")
    if kind == "canary":
        return _("Roll back…")
    return _("Close…") if kind in ("alert", "impact") else _("Reject…")


@register.filter
def is_decidable(item: Item) -> bool:
    """Whether it can be decided in the inbox, in the state it is in."""
    return bool(verbs_of(item))
