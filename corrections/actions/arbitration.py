"""Asking for a ruling on a conflict, or for its end. Like every change it is a request that is approved."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone

from corrections.actions.changes import approve_batch, approves_alone, request_change
from corrections.actions.rules import edit_rule
from corrections.domain.lifecycle import Refused
from corrections.domain.rulings import MAX_REASON_CHARS, NEEDS_EXPIRY, NEEDS_TWO, VERDICTS
from corrections.models import ChangeRequest, Conflict, Rule, Ruling
from memory.actions import record_event
from memory.domain.access import Actor, check_may
from memory.queries.workspaces import get_workspace

TITLES = {
    "a_wins": "{a} prevails over {b}", "b_wins": "{b} prevails over {a}", "order": "{a} first, then {b}",
    "narrow": "{b} is narrowed", "merge": "{b} goes up in {a}", "retire": "{b} is retired",
    "accept": "it stays as it is",
}  # fmt: skip


@dataclass(frozen=True)
class Said:
    """What a person decided. ``target`` is the rule (a or b) that goes first, is narrowed or is retired;
    ``condition`` is the new one of the narrowed rule, or of the rule that stays in a merge."""

    verdict: str
    reason: str
    target: str = "b"
    condition: str | None = None
    expires_at: datetime | None = None


@transaction.atomic
def rule_conflict(*, conflict: Conflict, said: Said, by: Actor) -> ChangeRequest:
    """Ask for a ruling on a conflict; in force at once where the actor's own approval is enough.

    A narrower or merged version and a retirement are asked for in the same batch, so that they are decided
    together. Raises :class:`NotPermitted`, :class:`Refused`, ``BrokenRuling``, :class:`hgmem.rules.RuleError`
    for a condition that is wrong, and what ``edit_rule`` raises.
    """
    check_may(by, "rule_conflict", within=conflict.workspace_id)
    rows = Conflict.objects.select_related("rule_a", "rule_b", "workspace")
    conflict = rows.select_for_update(of=("self",)).get(pk=conflict.pk)
    _check(conflict, said)
    batch, (a, b) = uuid4(), _ordered(conflict, said)
    ruling = Ruling.objects.create(
        workspace=conflict.workspace, verdict=said.verdict, rule_a=a, rule_b=b, tool=conflict.tool,
        witness=conflict.witness, reason=said.reason.strip(), expires_at=said.expires_at,
        made_by=by.name[:200], made_at=timezone.now(),
    )  # fmt: skip
    _ask_for_rules(conflict, ruling, said, batch, by)
    what = TITLES[said.verdict].format(a=a.name, b=b.name if b else a.name)
    detail = {"ruling": str(ruling.uuid), "conflict": str(conflict.uuid), "verdict": said.verdict}
    change = _request(conflict.workspace_id, f"Ruling: {what}", detail, said.reason, batch, by)
    Ruling.objects.filter(pk=ruling.pk).update(change=change)
    return _let_through(change, batch, by)


@transaction.atomic
def end_ruling(*, ruling: Ruling, reason: str, by: Actor) -> ChangeRequest:
    """Ask for the end of a ruling that is in force; its conflicts are open again then.

    Raises :class:`NotPermitted`, :class:`Refused`.
    """
    check_may(by, "rule_conflict", within=ruling.workspace_id)
    ruling = Ruling.objects.select_for_update().get(pk=ruling.pk)
    if ruling.status != "active":
        raise Refused(f"This ruling is {ruling.status}: there is nothing to end.")
    _check_reason(reason)
    known = ChangeRequest.objects.undecided().filter(
        workspace_id=ruling.workspace_id, kind="ruling", detail__end=str(ruling.uuid)
    )
    change = known.first()
    if change is None:
        batch, detail = uuid4(), {"end": str(ruling.uuid)}
        change = _request(ruling.workspace_id, f"End the ruling: {ruling.reason}", detail, reason, batch, by)
    return _let_through(change, change.batch, by) if change.status == "open" else change


def _check(conflict: Conflict, said: Said) -> None:
    if conflict.status != "open":
        raise Refused(
            "A ruling on this is in force: end it first." if conflict.status == "ruled"
            else "This conflict is gone: one of its rules has changed since."
        )  # fmt: skip
    if said.verdict not in VERDICTS:
        raise Refused(f"A ruling is one of {', '.join(VERDICTS)}.")
    if conflict.rule_b_id is None and said.verdict in NEEDS_TWO:
        raise Refused("This is about one rule only: narrow it, retire it, or accept it.")
    if said.verdict in ("narrow", "merge") and said.condition is None:
        raise Refused("Say what the condition becomes.")
    _check_reason(said.reason)
    if said.expires_at is None and said.verdict in NEEDS_EXPIRY:
        raise Refused("What is accepted as it is is looked at again: say until when.")
    if said.expires_at is not None and said.expires_at <= timezone.now():
        raise Refused("The ruling would have ended already.")


def _check_reason(reason: str) -> None:
    if not reason.strip():
        raise Refused("Say why: whoever meets this ruling later has to understand it.")
    if len(reason) > MAX_REASON_CHARS:
        raise Refused(f"A reason has at most {MAX_REASON_CHARS} characters.")


def _ordered(conflict: Conflict, said: Said) -> tuple[Rule, Rule | None]:
    """A and B as the ruling means them: ``order`` starts with A; B is narrowed, merged away or retired."""
    a, b = conflict.rule_a, conflict.rule_b
    if b is None or said.verdict not in ("order", "narrow", "merge", "retire"):
        return a, b
    last = said.target == "b" if said.verdict != "order" else said.target == "a"
    return (a, b) if last else (b, a)


def _ask_for_rules(conflict: Conflict, ruling: Ruling, said: Said, batch: UUID, by: Actor) -> None:
    """The changes of rules that a verdict needs, in the ruling's batch."""
    last = ruling.rule_b or ruling.rule_a
    seen = {conflict.rule_a_id: conflict.version_a, conflict.rule_b_id: conflict.version_b}
    if said.verdict == "narrow":
        _edit(last, seen[last.pk], said, batch, by)
    elif said.verdict == "merge":
        _edit(ruling.rule_a, seen[ruling.rule_a_id], said, batch, by)
    if said.verdict in ("merge", "retire") and last.status not in ("retired", "deleted"):
        change = request_change(rule=last, kind="retire", by=by, reason=said.reason)
        ChangeRequest.objects.filter(pk=change.pk).update(batch=batch)


def _edit(rule: Rule, seen: int | None, said: Said, batch: UUID, by: Actor) -> None:
    """The version that was looked at gets the condition: an edit that waits would be approved unseen."""
    latest = rule.latest_version
    if latest is None:
        raise Refused("This rule has no version.")
    if latest.number != seen:
        raise Refused(
            f"This is about version {seen} of {rule.name}, and version {latest.number} waits to be served:"
            " decide on that first."
        )
    document = {**latest.body, "condition": said.condition}
    edit_rule(rule=rule, document=document, base_version=latest.number, by=by, note=said.reason[:500])
    serving = ChangeRequest.objects.undecided().filter(rule=rule, kind__in=("create", "edit", "enable"))
    serving.update(batch=batch)


def _request(
    workspace_id: int, title: str, detail: dict[str, Any], reason: str, batch: UUID, by: Actor
) -> ChangeRequest:
    now = timezone.now()
    change = ChangeRequest.objects.create(
        workspace=get_workspace(workspace_id), kind="ruling", title=title[:300], description=reason.strip(),
        detail=detail, batch=batch, authors=[by.uuid] if by.uuid else [], requested_by=by.name[:200],
        requested_by_kind=by.kind, requested_at=now, updated_at=now,
    )  # fmt: skip
    record_event(
        by=by, workspace=change.workspace, verb="request_change", subject=change,
        new={"kind": "ruling", **detail}, reason=reason,
    )  # fmt: skip
    return change


def _let_through(change: ChangeRequest, batch: UUID | None, by: Actor) -> ChangeRequest:
    """Count the actor's own approval where the workspace lets it count."""
    if batch is not None and approves_alone(change, by):
        approve_batch(batch=batch, by=by)
        change.refresh_from_db()
    return change
