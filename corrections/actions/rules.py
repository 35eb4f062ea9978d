"""Writing rules: drafts, edits and the way back. What is served changes only in ``publishing``."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from corrections.actions.changes import request_change
from corrections.actions.publishing import expire_overdue_rules, latest_of, lock_rule
from corrections.actions.steps import (
    activate_rule,
    delete_rule,
    disable_rule,
    retire_rule,
    serve_by,
    take_step,
)
from corrections.actions.versions import author_kind, name_of, write_version
from corrections.domain.diff import diff_documents
from corrections.domain.documents import body_of, check_window, read_document
from corrections.domain.lifecycle import LIVE, Refused, check_step
from corrections.domain.threeway import Side, compare_three
from corrections.models import Rule
from corrections.queries.dependencies import dependents_detail
from hgmem import rules as engine
from memory.actions import record_event
from memory.domain.access import Actor, check_may
from memory.queries.linking import pattern_ids_of, titles_of
from memory.queries.workspaces import get_workspace

__all__ = [
    "StaleEdit", "activate_rule", "delete_rule", "disable_rule", "draft_rule", "edit_rule",
    "expire_overdue_rules", "retire_rule", "roll_back_rule", "take_step",
]  # fmt: skip


class StaleEdit(ValueError):
    """Somebody else wrote a newer version since the editor was opened; ``sides`` shows it three ways."""

    def __init__(self, said: str, sides: Sequence[Side] = ()) -> None:
        super().__init__(said)
        self.sides = list(sides)


@transaction.atomic
def draft_rule(
    *, workspace_id: int, document: Any, by: Actor, pattern_uuids: Iterable[str | UUID] = (), note: str = ""
) -> Rule:
    """A new rule with its first version, as a draft, and the request to serve it.

    ``document`` is ours or the article's form; ``pattern_uuids`` are the error patterns it is meant to
    handle. Raises :class:`NotPermitted`, :class:`hgmem.rules.RuleError`.
    """
    check_may(by, "draft_rule", within=workspace_id)
    parsed = read_document(document, author=author_kind(by))
    check_window(parsed.valid_until, timezone.now())
    now = timezone.now()
    rule = Rule.objects.create(
        workspace=get_workspace(workspace_id), name=name_of(parsed), created_at=now, updated_at=now,
        created_by=by.name[:200], created_by_kind=author_kind(by),
    )  # fmt: skip
    write_version(rule, parsed, by=by, note=note)
    rule.patterns.set(pattern_ids_of(workspace_id, pattern_uuids))
    record_event(
        by=by, workspace=rule.workspace, verb="draft_rule", subject=rule,
        new={"version": 1, "document": latest_of(rule).body}, reason=note,
    )  # fmt: skip
    request_change(rule=rule, kind="create", by=by, reason=note)
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
    """Write the next version and ask that it be served: a request that is open already is revised.

    ``base_version`` is the version the editor started from. The same document again changes nothing;
    ``pattern_uuids`` replaces the linked patterns (None leaves them).
    Raises :class:`NotPermitted`, :class:`StaleEdit`, :class:`Refused`, :class:`hgmem.rules.RuleError`.
    """
    check_may(by, "draft_rule", within=rule.workspace_id)
    rule = lock_rule(rule)
    check_step(rule.status, "edit")
    parsed = read_document(document, author=author_kind(by))
    _check_base(rule, base_version, body_of(parsed))
    check_window(parsed.valid_until, timezone.now())
    if _write_next(rule, parsed, verb="edit_rule", by=by, note=note):
        detail = dependents_detail(rule, now=timezone.now())
        request_change(rule=rule, kind="edit", by=by, reason=note, detail=detail)
    if pattern_uuids is not None:
        _link_patterns(rule, pattern_uuids, by=by)
    return rule


@transaction.atomic
def roll_back_rule(*, rule: Rule, to_version: int, base_version: int, by: Actor, note: str = "") -> Rule:
    """Write an old version's body as the next version; history only grows.

    Of a rule that is served it goes live at once where the actor's own approval is enough; otherwise its
    request waits. Raises :class:`NotPermitted`, :class:`StaleEdit`, :class:`Refused`,
    ``RuleVersion.DoesNotExist``.
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
    change = request_change(rule=rule, kind="edit", by=by, reason=note or f"Back to version {to_version}")
    if rule.status in LIVE:
        check_window(parsed.valid_until, timezone.now())
        serve_by(change, by=by, note=note)
        rule.refresh_from_db()
    return rule


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


def _check_base(rule: Rule, base_version: int, mine: dict[str, Any] | None = None) -> None:
    latest = latest_of(rule)
    if latest.number == base_version:
        return
    base = rule.versions.filter(number=base_version).first() if mine is not None else None
    raise StaleEdit(
        f"This was written from version {base_version}, but {latest.created_by} wrote version "
        f"{latest.number} meanwhile. Look at the difference and try again.",
        compare_three(base.body, latest.body, mine) if base and mine is not None else (),
    )


def _write_next(rule: Rule, parsed: engine.Rule, *, verb: str, by: Actor, note: str) -> bool:
    before = latest_of(rule)
    changes = diff_documents(before.body, body_of(parsed))
    if not changes:
        return False
    version = write_version(rule, parsed, by=by, note=note)
    record_event(
        by=by, workspace=rule.workspace, verb=verb, subject=rule,
        old={"version": before.number, **{change.field: change.old for change in changes}},
        new={"version": version.number, **{change.field: change.new for change in changes}},
        reason=note,
    )  # fmt: skip
    return True
