"""Filters of the rule pages: conditions with their parts coloured, action types in words."""

import json
import re
from typing import Any

from django import template
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from corrections.web.proposal_forms import SOURCES, STATUSES, TONES

register = template.Library()

PROPOSAL_STATUSES = {**dict(STATUSES), "proposed": _("to decide")}
PROPOSAL_SOURCES, PROPOSAL_TONES = dict(SOURCES), TONES

TOKEN = re.compile(
    r"""(?P<text>[rR]?"(?:\\.|[^"\\])*"|[rR]?'(?:\\.|[^'\\])*')"""
    r"|(?P<number>\b\d+(?:\.\d+)?\b)"
    r"|(?P<word>(?<!\.)\b(?:true|false|null|in|has)\b)"
    r"|(?P<root>(?<!\.)\b(?:input|tool|task|env|history|now|output|error|duration_ms)\b)"
    r"|(?P<call>\b[A-Za-z_]\w*(?=\())"
    r"|(?P<sign>&&|\|\||[!=<>]=|[!<>?:+\-*/%])"
)
ACTION_WORDS = {
    "PARAMETER_TRANSFORM": _("Change the parameters"),
    "TOOL_SWITCH": _("Call another tool"),
    "PRE_CALL_VALIDATION": _("Refuse the call, or ask"),
    "POST_CALL_PARSING_ADJUST": _("Read the output differently"),
    "PROMPT_ENHANCEMENT": _("Tell the model something"),
    "INSERT_STEP": _("Make another call first"),
}

STALE_WORDS = {
    "errors": _("It could not be evaluated %(count)s times since somebody looked."),
    "expires": _("It ends on %(at)s."),
    "unmatched": _("It has not matched for %(days)s days, although its tool was called."),
    "tool_silent": _("Its tool was not called for %(days)s days: %(tool)s."),
    "tool_unknown": _("Nobody ever called its tool: %(tool)s."),
}


@register.filter
def cel(source: str) -> SafeString:
    """A condition as HTML with a class for each kind of token; every part is escaped."""
    parts: list[tuple[str, str]] = []
    at = 0
    for found in TOKEN.finditer(source):
        parts.append(("", source[at : found.start()]))
        parts.append((found.lastgroup or "", found[0]))
        at = found.end()
    parts.append(("", source[at:]))
    return format_html_join("", "{}", ((_coloured(kind, text),) for kind, text in parts if text))


def _coloured(kind: str, text: str) -> Any:
    return format_html('<span class="cel-{}">{}</span>', kind, text) if kind else text


@register.filter
def action_words(action_type: str) -> Any:
    """What an action does, in words."""
    return ACTION_WORDS.get(action_type, action_type)


@register.filter
def proposed_status(status: str) -> Any:
    """The status of a rule proposal in the reader's language."""
    return PROPOSAL_STATUSES.get(status, status)


@register.filter
def proposed_tone(status: str) -> str:
    """The badge's class for it."""
    return PROPOSAL_TONES.get(status, "plain")


@register.filter
def proposed_source(source: str) -> Any:
    """Who proposed a rule, in the reader's language."""
    return PROPOSAL_SOURCES.get(source, source)


@register.filter
def is_scheduled(rule: Any) -> bool:
    """Whether the rule is live and its time is still to come."""
    is_live = rule.status in ("active", "canary") and rule.live_version is not None
    starts = rule.live_version.valid_from if is_live else None
    return starts is not None and starts > timezone.now()


@register.filter
def stale_words(reason: dict[str, Any]) -> Any:
    """Why a rule asks to be looked at, as a sentence."""
    words = STALE_WORDS.get(str(reason.get("kind")))
    if words is None:
        return reason.get("detail") or reason.get("kind", "")
    moment = parse_datetime(str(reason.get("at", "")))
    said = {"tool": "", "days": "", "count": ""} | reason
    return words % (said | {"at": date_format(localtime(moment), "DATETIME_FORMAT") if moment else ""})


@register.filter
def compact(value: Any) -> str:
    """A value on one line: text as it is, everything else as JSON, cut when long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 400 else f"{text[:399]}…"


@register.filter
def quoted(value: Any) -> str:
    """A value as JSON on one line, cut when long: tells the text 5 from the number."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 400 else f"{text[:399]}…"
