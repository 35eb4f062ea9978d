"""Writing rules: drafts, edits and the way back. What is served changes only in ``publishing``."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from corrections.actions.publishing import (
    activate_rule,
    disable_rule,
    expire_overdue_rules,
    latest_of,
    lock_rule,
    publish,
    retire_rule,
)
from corrections.domain.diff import diff_documents
from corrections.domain.documents import body_of, check_window, read_document
from corrections.domain.lifecycle import LIVE, Refused, check_step
from corrections.models import Rule, RuleVersion
from hgmem import rules as engine
from memory.actions import record_event
from memory.domain.access import Actor, check_may
from memory.queries.linking import pattern_ids_of, titles_of
from memory.queries.workspaces import get_workspace

__all__ = [
    "StaleEdit", "activate_rule", "disable_rule", "draft_rule", "edit_rule", "expire_overdue_rules",
    "retire_rule", "roll_back_rule",
]  # fmt: skip


class StaleEdit(ValueError):
    """Somebody else wrote a newer version since the editor was opened."""


@transaction.atomic
def draft_rule(
    *, workspace_id: int, document: Any, by: Actor, pattern_uuids: Iterable[str | UUID] = (), note: str = ""
) -> Rule:
    """A new rule with its first version, as a draft: nobody is served it yet.

    ``document`` is ours or the article's form; ``pattern_uuids`` are the error patterns it is meant to
    handle. Raises :class:`NotPermitted`, :class:`hgmem.rules.RuleError`.
    """
    check_may(by, "draft_rule", within=workspace_id)
    parsed = read_document(document, author=author_kind(by))
    check_window(parsed.valid_until, timezone.now())
    now = timezone.now()
    rule = Rule.objects.create(
        workspace=get_workspace(workspace_id), name=_name_of(parsed), created_at=now, updated_at=now,
        created_by=by.name[:200], created_by_kind=author_kind(by),
    )  # fmt: skip
    _write_version(rule, parsed, number=1, by=by, note=note)
    rule.patterns.set(pattern_ids_of(workspace_id, pattern_uuids))
    record_event(
        by=by, workspace=rule.workspace, verb="draft_rule", subject=rule,
        new={"version": 1, "document": latest_of(rule).body}, reason=note,
    )  # fmt: skip
    return rule


@transaction.atomic
def edit_rule(
    *,
    rule: Rule,
    document: Any,
    base_version: int,
    by: Actor,
    note: str = "",
    pattern_uuids: Iterable[str | UUID] | None = None,
) -> Rule:
    """Write the next version. What is served stays until the rule is activated again.

    ``base_version`` is the version the editor started from. The same document again changes nothing;
    ``pattern_uuids`` replaces the linked patterns (None leaves them).
    Raises :class:`NotPermitted`, :class:`StaleEdit`, :class:`Refused`, :class:`hgmem.rules.RuleError`.
    """
    check_may(by, "draft_rule", within=rule.workspace_id)
    rule = lock_rule(rule)
    check_step(rule.status, "edit")
    _check_base(rule, base_version)
    parsed = read_document(document, author=author_kind(by))
    check_window(parsed.valid_until, timezone.now())
    _write_next(rule, parsed, verb="edit_rule", by=by, note=note)
    if pattern_uuids is not None:
        _link_patterns(rule, pattern_uuids, by=by)
    return rule


@transaction.atomic
def roll_back_rule(*, rule: Rule, to_version: int, base_version: int, by: Actor, note: str = "") -> Rule:
    """Write an old version's body as the next version; history only grows.

    A rule that is served goes back at once, which takes the right to publish.
    Raises :class:`NotPermitted`, :class:`StaleEdit`, :class:`Refused`, ``RuleVersion.DoesNotExist``.
    """
    check_may(by, "draft_rule", within=rule.workspace_id)
    rule = lock_rule(rule)
    check_step(rule.status, "edit")
    _check_base(rule, base_version)
    old = rule.versions.get(number=to_version)
    parsed = read_document(old.body, author=old.created_by_kind)
    if not _write_next(
        rule, parsed, verb="roll_back_rule", by=by, note=note or f"Back to version {to_version}"
    ):
        raise Refused(f"Version {to_version} says the same as the latest version.")
    if rule.status in LIVE:
        check_may(by, "publish_rule", within=rule.workspace_id)
        check_window(parsed.valid_until, timezone.now())
        status = check_step(rule.status, "activate")
        publish(rule=rule, status=status, version=latest_of(rule), verb="activate_rule", by=by, reason=note)
    return rule


def author_kind(by: Actor) -> str:
    """``human`` for people, ``agent`` for keys; the system writes in a person's name (imports, the demo)."""
    return "agent" if by.kind == "key" else "human"


def _link_patterns(rule: Rule, pattern_uuids: Iterable[str | UUID], *, by: Actor) -> None:
    old = set(rule.patterns.values_list("pk", flat=True))
    new = set(pattern_ids_of(rule.workspace_id, pattern_uuids))
    if old == new:
        return
    if rule.status in LIVE:
        raise Refused("A rule that is served keeps its patterns: disable it first.")
    rule.patterns.set(new)
    record_event(
        by=by, workspace=rule.workspace, verb="link_patterns", subject=rule,
        old={"patterns": titles_of(old)}, new={"patterns": titles_of(new)},
    )  # fmt: skip


def _check_base(rule: Rule, base_version: int) -> None:
    latest = latest_of(rule)
    if latest.number != base_version:
        raise StaleEdit(
            f"This was written from version {base_version}, but {latest.created_by} wrote version "
            f"{latest.number} meanwhile. Look at the difference and try again."
        )


def _write_next(rule: Rule, parsed: engine.Rule, *, verb: str, by: Actor, note: str) -> bool:
    before = latest_of(rule)
    changes = diff_documents(before.body, body_of(parsed))
    if not changes:
        return False
    rule.name = _name_of(parsed)
    version = _write_version(rule, parsed, number=before.number + 1, by=by, note=note)
    record_event(
        by=by, workspace=rule.workspace, verb=verb, subject=rule,
        old={"version": before.number, **{change.field: change.old for change in changes}},
        new={"version": version.number, **{change.field: change.new for change in changes}},
        reason=note,
    )  # fmt: skip
    return True


def _write_version(rule: Rule, parsed: engine.Rule, *, number: int, by: Actor, note: str) -> RuleVersion:
    now = timezone.now()
    rule.latest_version = RuleVersion.objects.create(
        rule=rule, number=number, body=body_of(parsed), tool=parsed.applies_to.tool[:200],
        action_type=parsed.action.action_type, priority=parsed.priority,
        valid_from=parsed.valid_from, valid_until=parsed.valid_until, note=note[:500],
        created_at=now, created_by=by.name[:200], created_by_kind=author_kind(by),
    )  # fmt: skip
    rule.updated_at = now
    rule.save(update_fields=["name", "latest_version", "updated_at"])
    return rule.latest_version


def _name_of(parsed: engine.Rule) -> str:
    return (parsed.name or parsed.description or f"{parsed.action.action_type} on {parsed.applies_to.tool}")[
        :200
    ]
