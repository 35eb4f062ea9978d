"""Where two rules meet: the part of their scopes that both cover, with one tool and moment out of it."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from corrections.domain.conflicts.questions import Setting
from hgmem.rules import Rule
from hgmem.rules.scope import Scope, in_range, matches_glob, parse_range

_BETWEEN = ".0" * 12 + ".1"
_LONGEST_TOOL = 400


def meeting(rules: Sequence[Rule], now: datetime) -> Setting | None:
    """The setting in which all rules may speak, or None when there is none: proved."""
    scopes = [rule.applies_to for rule in rules]
    if len({rule.point for rule in rules}) > 1:
        return None
    tool = _common_tool(scopes)
    agents = {scope.agent for scope in scopes if scope.agent}
    version = _common_version([scope.tool_versions for scope in scopes if scope.tool_versions])
    window = _common_window(rules)
    if tool is None or len(agents) > 1 or version is None or window is None:
        return None
    since, until = window
    return Setting(
        point=rules[0].point,
        moment=_moment(since, until, now),
        tools=tuple(dict.fromkeys(scope.tool for scope in scopes if not scope.any_tool)),
        tool=tool,
        version=version,
        tags=tuple(dict.fromkeys(tag for scope in scopes for tag in scope.tags)),
        agent=next(iter(agents), ""),
        since=since,
        until=until,
    )


def covers(wider: Rule, narrower: Rule) -> bool:
    """Whether one rule's scope surely holds the other's. False when it is not sure."""
    wide, narrow = wider.applies_to, narrower.applies_to
    tool = wide.any_tool or wide.tool == narrow.tool or (not narrow.is_glob and wide.fits_tool(narrow.tool))
    return (
        wider.point == narrower.point
        and tool
        and set(wide.tags) <= set(narrow.tags)
        and wide.agent in ("", narrow.agent)
        and wide.tool_versions in ("", narrow.tool_versions)
        and (wider.valid_from is None or (narrower.valid_from or _EARLIEST) >= wider.valid_from)
        and (wider.valid_until is None or (narrower.valid_until or _LATEST) <= wider.valid_until)
    )


_EARLIEST = datetime.fromisoformat("0001-01-01T00:00:00+00:00")
_LATEST = datetime.fromisoformat("9999-12-31T23:59:59+00:00")


def _common_tool(scopes: Sequence[Scope]) -> str | None:
    """A tool in every scope; "" when any will do, None when there is none."""
    limited = [scope for scope in scopes if not scope.any_tool]
    named = next((scope.tool for scope in limited if not scope.is_glob), None)
    if named is not None:
        return named if all(scope.fits_tool(named) for scope in limited) else None
    if not limited:
        return ""
    example: str | None = limited[0].tool.replace("*", "").replace("?", "a") or "a"
    for scope in limited[1:]:
        if example is not None and not matches_glob(scope.tool, example):
            example = _in_both(limited[0].tool, scope.tool)
    if example is not None and not all(scope.fits_tool(example) for scope in limited):
        return "" if len(limited) > 2 else None
    return example


def _in_both(one: str, other: str) -> str | None:
    """A text that two patterns with ``*`` and ``?`` share, or None: a search over both positions."""
    waiting = [(0, 0, "")]
    seen = {(0, 0)}
    while waiting:
        at, beside, text = waiting.pop(0)
        if not one[at:].strip("*") and not other[beside:].strip("*"):
            return text or "a"
        for step in _steps(one, at, other, beside):
            if step[:2] not in seen and len(text) < _LONGEST_TOOL:
                seen.add(step[:2])
                waiting.append((step[0], step[1], text + step[2]))
    return None


def _steps(one: str, at: int, other: str, beside: int) -> list[tuple[int, int, str]]:
    left, right = one[at : at + 1], other[beside : beside + 1]
    steps = []
    if left == "*":
        steps.append((at + 1, beside, ""))
    if right == "*":
        steps.append((at, beside + 1, ""))
    if left and right:
        wild = {"*", "?"}
        if left in wild or right in wild or left == right:
            letter = next((sign for sign in (left, right) if sign not in wild), "a")
            steps.append((at + (left != "*"), beside + (right != "*"), letter))
    return steps


def _common_version(ranges: Sequence[str]) -> str | None:
    """A version in every range; "" when any will do, None when there is none.

    Ranges only change at their bounds, so it is enough to look at each bound and just beside it.
    """
    if not ranges:
        return ""
    bounds = [bound for text in ranges for _, bound in parse_range(text)]
    candidates = [
        "1.0",
        *bounds,
        *(bound + _BETWEEN for bound in bounds),
        *(f"{bound}.a" for bound in bounds),
    ]
    candidates += ["0", "0.a", "999999"]
    return next((one for one in candidates if all(in_range(one, text) for text in ranges)), None)


def _common_window(rules: Sequence[Rule]) -> tuple[datetime | None, datetime | None] | None:
    since = max((rule.valid_from for rule in rules if rule.valid_from), default=None)
    until = min((rule.valid_until for rule in rules if rule.valid_until), default=None)
    return None if since and until and since >= until else (since, until)


def _moment(since: datetime | None, until: datetime | None, now: datetime) -> datetime:
    if since is not None and now < since:
        return since
    if until is not None and now >= until:
        return max(until - timedelta(seconds=1), since or until - timedelta(seconds=1))
    return now
