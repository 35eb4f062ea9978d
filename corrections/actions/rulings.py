"""Rulings taking effect and ending. Asking for one is ``arbitration``; both go through a change request."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from corrections.actions.canary_resets import reset_after_ruling
from corrections.actions.publishing import lock_rules, lock_stamp, stamp_ruleset
from corrections.actions.regressions import ServedRules, check_all
from corrections.domain.lifecycle import Refused
from corrections.domain.rulings import check_verdict, compile_for, decide, expectation_of
from corrections.models import ChangeRequest, Conflict, Rule, RuleVersion, Ruling
from corrections.queries.rulings import rulings_in_force, word_of
from memory.actions import record_event
from memory.domain.access import Actor

SETTLING = frozenset(("a_wins", "b_wins", "order", "accept"))
"""Verdicts that the engine itself keeps; the others are kept by what the rules say."""


def publish_ruling(*, change: ChangeRequest, by: Actor) -> None:
    """What an approved change request of kind ``ruling`` does: a ruling comes into force, or ends.

    Inside the caller's transaction. Raises :class:`Refused`, and ``BrokenRuling`` when an earlier ruling on
    other rules could not be kept beside it.
    """
    if "end" in change.detail:
        _end(_ruling_of(change, "end"), by=by, reason=change.description)
    else:
        _bring_into_force(_ruling_of(change, "ruling"), finding=change.detail.get("conflict"), by=by)


def _ruling_of(change: ChangeRequest, name: str) -> Ruling:
    uuid = UUID(change.detail[name])
    ruling = Ruling.objects.select_for_update().filter(workspace_id=change.workspace_id, uuid=uuid).first()
    if ruling is None:
        raise Refused("The ruling is gone with its rules.")
    return ruling


def _bring_into_force(ruling: Ruling, *, finding: str | None, by: Actor) -> None:
    now = timezone.now()
    if ruling.status != "proposed":
        raise Refused(f"This ruling is {ruling.status}: it cannot come into force again.")
    if ruling.expires_at is not None and ruling.expires_at <= now:
        raise Refused("The time of this ruling has run out before it was approved.")
    lock_rules([pk for pk in (ruling.rule_a_id, ruling.rule_b_id) if pk is not None])
    lock_stamp(ruling.workspace_id)
    others = list(rulings_in_force(ruling.workspace_id, now).select_related("rule_a", "rule_b"))
    replaced = [other for other in others if _contradicts(other, ruling)]
    kept = [other for other in others if other not in replaced]
    words = [word_of(other) for other in (*kept, ruling)]
    ruling.expectation = {}
    if ruling.witness is not None:
        table = ServedRules(ruling.workspace_id, {ruling.tool, *(one.tool for one in kept)}, _drafts(ruling))
        ruling.expectation = _expect(ruling, table, words, now)
        tested = [other for other in kept if other.witness is not None]
        check_all(tested, table, words, [word_of(other) for other in others], now)
    for other in replaced:
        _end(other, by=by, reason="replaced by another ruling on these rules")
    ruling.status = "active"
    ruling.save(update_fields=["status", "expectation"])
    _settled_by(ruling, finding).update(status="ruled", ruling=ruling, updated_at=now)
    stamp_ruleset(ruling.workspace_id)
    _reset_canaries(ruling, "A ruling came into force", by=by)
    _note(ruling, "make_ruling", by=by, new=_facts(ruling), reason=ruling.reason)


def _contradicts(other: Ruling, ruling: Ruling) -> bool:
    """Whether both speak to the engine about the same two rules, and not the same."""
    pair = {ruling.rule_a_id, ruling.rule_b_id}
    if {other.rule_a_id, other.rule_b_id} != pair or not {other.verdict, ruling.verdict} <= SETTLING:
        return False
    return _direction(other) != _direction(ruling)


def _direction(ruling: Ruling) -> tuple[str, int | None]:
    if ruling.verdict == "b_wins":
        return "wins", ruling.rule_b_id
    return ("wins" if ruling.verdict == "a_wins" else ruling.verdict), ruling.rule_a_id


def _drafts(ruling: Ruling) -> dict[int, RuleVersion | None]:
    """The latest versions of the ruling's rules that are not served yet: ruled on as if they were."""
    if ruling.verdict in ("merge", "retire"):
        return {}
    rules = [rule for rule in (ruling.rule_a, ruling.rule_b) if rule is not None]
    return {
        rule.pk: _with_rule(rule.latest_version, rule)
        for rule in rules
        if rule.latest_version is not None and rule.status not in ("active", "canary", "retired", "deleted")
    }


def _with_rule(version: RuleVersion, rule: Rule) -> RuleVersion:
    version.rule = rule
    return version


def _expect(ruling: Ruling, table: ServedRules, words: list[Any], now: datetime) -> dict[str, Any]:
    rules = {str(rule.uuid): rule for rule in (ruling.rule_a, ruling.rule_b) if rule is not None}
    served = {rule.uuid for rule in table.after.values()}
    ruleset = compile_for(ruling.tool, table.after.values(), words)
    found = expectation_of(
        decide(ruleset, ruling.witness or {}, now), [uuid for uuid in rules if uuid in served]
    )
    check_verdict(word_of(ruling), found, {uuid: rule.name for uuid, rule in rules.items()})
    return found


def _settled_by(ruling: Ruling, finding: str | None) -> QuerySet[Conflict]:
    """The findings a ruling settles: the one it was made on, and for two rules all where they contradict."""
    mine = Q(uuid=UUID(finding)) if finding else Q(ruling=ruling)
    if ruling.verdict in SETTLING and ruling.rule_b_id is not None:
        pair = Q(rule_a=ruling.rule_a, rule_b=ruling.rule_b) | Q(rule_a=ruling.rule_b, rule_b=ruling.rule_a)
        mine |= pair & Q(kind__in=["contradictory", "shadowed"])
    return Conflict.objects.filter(mine, workspace_id=ruling.workspace_id).exclude(status="gone")


def _end(ruling: Ruling, *, by: Actor, reason: str) -> None:
    """End a locked ruling; its findings are open again."""
    if ruling.status != "active":
        raise Refused(f"This ruling is {ruling.status}: there is nothing to end.")
    now = timezone.now()
    ruling.status, ruling.ended_at = "ended", now
    ruling.ended_by, ruling.end_reason = by.name[:200], reason
    ruling.save(update_fields=["status", "ended_at", "ended_by", "end_reason"])
    Conflict.objects.filter(ruling=ruling, status="ruled").update(status="open", ruling=None, updated_at=now)
    stamp_ruleset(ruling.workspace_id)
    _reset_canaries(ruling, "A ruling ended", by=by)
    _note(ruling, "end_ruling", by=by, old=_facts(ruling), reason=reason)


def _reset_canaries(ruling: Ruling, what: str, *, by: Actor) -> None:
    """What was seen of the ruling's rules on trial is of another time; the engine ranks them differently."""
    if ruling.verdict in SETTLING:
        reason = f"{what}: what was seen before is left out. {ruling.reason}"
        reset_after_ruling((ruling.rule_a_id, ruling.rule_b_id), by=by, reason=reason)


def end_expired_rulings(*, now: datetime, by: Actor) -> int:
    """The clock: rulings whose time has run out end. Returns how many. The engine is told by the stamp."""
    ended = 0
    due = Ruling.objects.filter(status="active", expires_at__lte=now)
    for pk in due.order_by("pk").values_list("pk", flat=True):
        with transaction.atomic():
            ruling = due.select_for_update().filter(pk=pk).first()
            if ruling is not None:
                _end(ruling, by=by, reason="its time has run out")
                ended += 1
    return ended


def _facts(ruling: Ruling) -> dict[str, Any]:
    return {
        "verdict": ruling.verdict,
        "rule_a": ruling.rule_a.name,
        "rule_b": ruling.rule_b.name if ruling.rule_b else None,
        "expires_at": ruling.expires_at.isoformat() if ruling.expires_at else None,
        "witness": ruling.witness,
        "expectation": ruling.expectation,
    }


def _note(ruling: Ruling, verb: str, *, by: Actor, reason: str, **values: Any) -> None:
    record_event(by=by, workspace=ruling.workspace, verb=verb, subject=ruling, reason=reason, **values)
