"""Filters of the drawings: outlines, signs and words of kinds and marks."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from memory.web import path_words

register = template.Library()

KINDS = path_words.KINDS | {"group": gettext_lazy("group of nodes"), "rule": gettext_lazy("rule")}
MARKS = {
    "added": gettext_noop("added"), "removed": gettext_noop("removed"),
    "relabelled": gettext_noop("relabelled"), "kept": gettext_noop("kept"),
}  # fmt: skip
SIGNS = {"added": "+", "removed": "−", "relabelled": "~", "kept": "="}
FIRST_LINE, LINE = -12, 17


@register.filter
def outline(outlines: Mapping[str, str], kind: str) -> str:
    """The outline of a kind as path data; a kind without one looks like an action."""
    return outlines.get(kind, outlines["action"])


@register.filter
def node_kind(kind: str, words: Mapping[str, Any] | None = None) -> Any:
    """A kind of node in the reader's language; ``words`` are what this drawing calls it."""
    return (words or {}).get(kind) or KINDS.get(kind, kind)


@register.filter
def mark_word(mark: str) -> str:
    """What a comparison says about a step, in the reader's language."""
    return _(MARKS[mark]) if mark in MARKS else mark


@register.filter
def mark_sign(mark: str) -> str:
    """Its sign: colour is never the only one."""
    return SIGNS.get(mark, "")


@register.filter
def box_sign(box: Any) -> str:
    """The sign in the corner of a box: its mark, or the cross of what went wrong."""
    return SIGNS.get(box.mark, "") or ("✕" if box.tone == "bad" else "")


@register.filter
def line_y(number: int) -> int:
    """The baseline of a line of text within a box."""
    return FIRST_LINE + LINE * number
