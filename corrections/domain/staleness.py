"""When a person should look at a rule again: it does not fire, errs, is about to end, or its tool is gone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import Annotated, Any

import msgspec

SECTION = "lifecycle"
"""Where a workspace keeps its policy, in ``Workspace.settings``."""
KINDS = ("errors", "expires", "tool_unknown", "tool_silent", "unmatched")


class StalePolicy(msgspec.Struct, frozen=True, kw_only=True):
    """``Workspace.settings["lifecycle"]``, in days; 0 switches a reminder off."""

    unmatched_days: Annotated[int, msgspec.Meta(ge=0, le=3650)] = 60
    expiry_notice_days: Annotated[int, msgspec.Meta(ge=0, le=365)] = 7


class InvalidStalePolicyError(ValueError):
    """A policy that cannot be kept; the text names the field."""


def check_stale_policy(document: Mapping[str, Any]) -> StalePolicy:
    """Read a policy. Raises :class:`InvalidStalePolicyError`."""
    try:
        return msgspec.convert(dict(document), StalePolicy)
    except msgspec.ValidationError as error:
        raise InvalidStalePolicyError(str(error)) from error


def stale_policy(settings: Mapping[str, Any]) -> StalePolicy:
    """The policy in a workspace's settings; the default for what cannot be read."""
    try:
        return check_stale_policy(settings.get(SECTION) or {})
    except (InvalidStalePolicyError, TypeError, ValueError):
        return StalePolicy()


@dataclass(frozen=True)
class WatchedRule:
    """A served rule, as far as its age is concerned. ``served_since`` is when it last was changed."""

    tool: str
    served_since: datetime
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    last_matched_at: datetime | None = None
    reviewed_at: datetime | None = None
    error_count: int = 0
    reviewed_error_count: int = 0


def find_stale_reasons(
    rule: WatchedRule, tools: Mapping[str, datetime], policy: StalePolicy, now: datetime
) -> list[dict[str, Any]]:
    """Why somebody should look, worst first; JSON-ready. ``tools`` says when each tool was last called.

    A rule that nobody could have met is not blamed for silence: then its tool is named instead.
    """
    reasons: list[dict[str, Any]] = []
    fresh_errors = rule.error_count - rule.reviewed_error_count
    if fresh_errors > 0:
        reasons.append({"kind": "errors", "count": fresh_errors})
    if _ends_soon(rule, policy, now) and rule.valid_until is not None:
        reasons.append({"kind": "expires", "at": rule.valid_until.isoformat()})
    silence = _silence(rule, tools, policy, now)
    return [*reasons, silence] if silence else reasons


def _ends_soon(rule: WatchedRule, policy: StalePolicy, now: datetime) -> bool:
    if rule.valid_until is None or policy.expiry_notice_days == 0:
        return False
    notice_at = rule.valid_until - timedelta(days=policy.expiry_notice_days)
    was_seen = rule.reviewed_at is not None and rule.reviewed_at >= notice_at
    return notice_at <= now < rule.valid_until and not was_seen


def _silence(
    rule: WatchedRule, tools: Mapping[str, datetime], policy: StalePolicy, now: datetime
) -> dict[str, Any] | None:
    if policy.unmatched_days == 0:
        return None
    marks = (rule.served_since, rule.valid_from, rule.last_matched_at, rule.reviewed_at)
    since = max(mark for mark in marks if mark is not None)
    days = (now - since).days
    if days < policy.unmatched_days:
        return None
    called_at = last_called(rule.tool, tools)
    if called_at is None:
        return {"kind": "tool_unknown", "tool": rule.tool, "days": days}
    if called_at <= since:
        return {"kind": "tool_silent", "tool": rule.tool, "days": (now - called_at).days}
    return {"kind": "unmatched", "days": days}


def last_called(tool: str, tools: Mapping[str, datetime]) -> datetime | None:
    """When a tool of that name, or of one that the pattern fits, was last called; None for never."""
    if not any(sign in tool for sign in "*?"):
        return tools.get(tool)
    return max(_fitting(tool.replace("[", "[[]"), tools), default=None)


def _fitting(glob: str, tools: Mapping[str, datetime]) -> Iterable[datetime]:
    return (at for name, at in tools.items() if fnmatchcase(name, glob))
