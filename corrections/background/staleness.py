"""Marking rules that a person should look at again. Idempotent: the same rows give the same marks."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import Q

from corrections.domain.lifecycle import LIVE
from corrections.domain.staleness import KINDS, StalePolicy, WatchedRule, find_stale_reasons, stale_policy
from corrections.models import Rule
from memory.queries.tools import list_last_calls
from memory.queries.workspaces import get_workspace

CHUNK = 500


def mark_stale_rules(now: datetime) -> int:
    """Set or clear the marks of every workspace's rules; how many changed. A finding: no audit event."""
    watched = Rule.objects.filter(Q(status__in=LIVE) | Q(stale_since__isnull=False)).order_by()
    ids = watched.values_list("workspace_id", flat=True).distinct()
    return sum(_mark_workspace(workspace_id, now) for workspace_id in ids)


def _mark_workspace(workspace_id: int, now: datetime) -> int:
    policy = stale_policy(get_workspace(workspace_id).settings)
    tools = list_last_calls(workspace_id)
    count = 0
    for rules in _chunks(workspace_id):
        changed = [rule for rule in rules if _mark(rule, tools, policy, now)]
        Rule.objects.bulk_update(changed, ["stale_since", "stale_reasons"])
        count += len(changed)
    return count


def _chunks(workspace_id: int) -> Iterator[list[Rule]]:
    rows = Rule.objects.filter(Q(status__in=LIVE) | Q(stale_since__isnull=False), workspace_id=workspace_id)
    after = 0
    while chunk := list(rows.select_related("live_version").filter(pk__gt=after).order_by("pk")[:CHUNK]):
        yield chunk
        after = chunk[-1].pk


def _mark(rule: Rule, tools: dict[str, datetime], policy: StalePolicy, now: datetime) -> bool:
    found = find_stale_reasons(watched(rule), tools, policy, now) if rule.status in LIVE else []
    # What somebody marked, after a tool changed, is for a person to clear.
    others = [reason for reason in rule.stale_reasons if reason.get("kind") not in KINDS]
    reasons = [*found, *others]
    since = (rule.stale_since or now) if reasons else None
    if (reasons, since) == (rule.stale_reasons, rule.stale_since):
        return False
    rule.stale_reasons, rule.stale_since = reasons, since
    return True


def watched(rule: Rule) -> WatchedRule:
    """What the pass looks at of a served rule."""
    version = rule.live_version
    window: dict[str, Any] = (
        {"valid_from": version.valid_from, "valid_until": version.valid_until} if version else {}
    )
    return WatchedRule(
        tool=version.tool if version else "*",
        served_since=max(rule.updated_at, version.created_at) if version else rule.updated_at,
        last_matched_at=rule.last_matched_at,
        reviewed_at=rule.reviewed_at,
        error_count=rule.error_count,
        reviewed_error_count=rule.reviewed_error_count,
        **window,
    )
