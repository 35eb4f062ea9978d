"""Filters of the conflict pages: kinds, statuses and rulings in words."""

from typing import Any

from django import template
from django.utils.translation import gettext_lazy as _

from corrections.models import ConflictScan
from corrections.web.forms.ruling import KINDS, PROOFS, STATUSES

register = template.Library()

VERDICTS: dict[str, Any] = {
    "a_wins": _("A prevails"), "b_wins": _("B prevails"), "order": _("first A, then B"),
    "narrow": _("B is narrowed"), "merge": _("B goes up in A"), "retire": _("B is retired"),
    "accept": _("accepted as it is"),
}  # fmt: skip
RULING_STATUSES: dict[str, Any] = {
    "proposed": _("waits for approval"), "active": _("in force"), "ended": _("ended"),
}  # fmt: skip
TONES = {
    "open": "warn", "ruled": "good", "gone": "plain", "conflict": "bad", "not_proven": "plain",
    "proposed": "info", "active": "good", "ended": "plain",
}  # fmt: skip


@register.filter
def conflict_kind(kind: str) -> Any:
    """What kind of finding it is."""
    return KINDS.get(kind, kind)


@register.filter
def conflict_word(status: str) -> Any:
    """A status or a proof in the reader's language."""
    return STATUSES.get(status) or PROOFS.get(status) or RULING_STATUSES.get(status, status)


@register.filter
def conflict_tone(status: str) -> str:
    """The badge's class for it."""
    return TONES.get(status, "plain")


@register.filter
def ruling_word(verdict: str) -> Any:
    """What was decided."""
    return VERDICTS.get(verdict, verdict)


@register.filter
def percent_done(scan: ConflictScan) -> int:
    """How far a scan is, 0 to 100."""
    return min(100, scan.done * 100 // scan.total) if scan.total else 0
