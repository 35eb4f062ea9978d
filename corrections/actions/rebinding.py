"""The next version of many rules at once, bound to a tool's new version. Nobody is served it yet."""

from collections.abc import Sequence
from datetime import datetime

from django.utils import timezone

from corrections.actions.versions import author_kind
from corrections.domain.documents import body_of, read_document
from corrections.domain.impacts import rebound
from corrections.domain.lifecycle import LIVE, Refused, can_step
from corrections.models import Rule, RuleVersion
from hgmem import rules as engine
from memory.domain.access import Actor

Written = list[tuple[Rule, RuleVersion]]
Kept = list[tuple[Rule, str]]


def write_rebound(
    rules: Sequence[Rule], *, version: str, only: bool, note: str, by: Actor
) -> tuple[Written, Kept]:
    """Versions of locked rules whose range holds ``version``; and the rules left as they are, with why.

    Four statements, however many rules. A rule with an edit that waits is left alone: its next version would
    carry that edit with it. Raises :class:`Refused` where the tool's callers report no version.
    """
    if not version:
        raise Refused("The tool's callers report no version: there is none to bind a rule to.")
    ids = [rule.latest_version_id for rule in rules if rule.latest_version_id]
    latest = {row.rule_id: row for row in RuleVersion.objects.filter(pk__in=ids)}
    now = timezone.now()
    fresh: Written = []
    kept: Kept = []
    for rule in rules:
        made = _next(rule, latest.get(rule.pk), version, only, note, by, now)
        if isinstance(made, str):
            kept.append((rule, made))
        else:
            fresh.append((rule, made))
    RuleVersion.objects.bulk_create([row for _, row in fresh])
    for rule, row in fresh:
        rule.latest_version, rule.updated_at = row, now
    Rule.objects.bulk_update([rule for rule, _ in fresh], ["latest_version", "updated_at"])
    return fresh, kept


def _next(
    rule: Rule, latest: RuleVersion | None, version: str, only: bool, note: str, by: Actor, now: datetime
) -> RuleVersion | str:
    """The next version, or why there is none."""
    if latest is None or not can_step(rule.status, "edit"):
        return f"A rule that is {rule.status} cannot be edited."
    if rule.status in LIVE and rule.live_version_id != latest.pk:
        return f"Version {latest.number} waits to be served: decide on it first."
    try:
        parsed = read_document(latest.body, author=latest.created_by_kind)
    except engine.RuleError as error:
        return f"Its document cannot be read: {error}"
    ranged = rebound(parsed.applies_to, version, only=only)
    if ranged == parsed.applies_to.tool_versions:
        return "It holds the new version already."
    scope = parsed.applies_to.model_copy(update={"tool_versions": ranged})
    body = body_of(parsed.model_copy(update={"applies_to": scope}))
    return RuleVersion(
        rule=rule, number=latest.number + 1, body=body, tool=latest.tool, action_type=latest.action_type,
        priority=latest.priority, valid_from=latest.valid_from, valid_until=latest.valid_until,
        note=note[:500], created_at=now, created_by=by.name[:200], created_by_kind=author_kind(by),
    )  # fmt: skip
