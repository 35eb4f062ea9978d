"""Proposing a rule without being asked: an agent over the API. It always waits for a person."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from corrections.actions.measuring import measure_rule, write_backtest
from corrections.domain.documents import body_of, check_window
from corrections.domain.lifecycle import Refused
from corrections.domain.proposing import check_proposal, read_proposed, rule_key
from corrections.models import RuleProposal
from corrections.queries.proposals import rules_by_key
from hgmem.rules import Rule
from memory.actions import record_event
from memory.domain.access import Actor, check_may
from memory.queries.evidence import calls_at, patterns_of_calls
from memory.queries.workspaces import get_workspace

MAX_REASON = 2_000
MAX_EVIDENCE = 100
PROPOSED_AGAIN = (
    "status", "source", "decision_reason", "rule", "reason", "times_proposed", "updated_at",
)  # fmt: skip


class UnknownCallError(ValueError):
    """A call that was named as evidence is not there; ``index`` says which of them."""

    def __init__(self, index: int) -> None:
        super().__init__("There is no such call in this workspace.")
        self.index = index


@dataclass(frozen=True)
class Proposed:
    """The proposal, and whether it is a new one."""

    proposal: RuleProposal
    is_new: bool


def propose_rule(
    *, workspace_id: int, document: Any, reason: str, by: Actor, evidence: Iterable[tuple[UUID, int]] = ()
) -> Proposed:
    """Propose a rule with its backtest, which the server makes itself. Nothing is served.

    ``evidence`` names calls (task and number) that show the mistake. The same rule again gains evidence. One
    that would hit good calls is kept, and says so.
    Raises :class:`NotPermitted`, :class:`hgmem.rules.RuleError`, :class:`UnknownCallError`, and
    :class:`Refused` for what is a rule already, or was rejected.
    """
    check_may(by, "draft_rule", within=workspace_id)
    rule = read_proposed(document)
    now = timezone.now()
    check_window(rule.valid_until, now)
    _check_is_no_rule(workspace_id, rule)
    named = _named_calls(workspace_id, list(evidence)[:MAX_EVIDENCE])
    patterns = [uuid for _pk, uuid in patterns_of_calls(named)]
    measured = measure_rule(workspace_id=workspace_id, document=document, patterns=patterns, now=now)
    with transaction.atomic():
        fresh = _row(workspace_id, rule, reason, by)
        RuleProposal.objects.bulk_create([fresh], ignore_conflicts=True)
        stored = RuleProposal.objects.select_for_update().get(workspace=workspace_id, key=fresh.key)
        is_new = stored.uuid == fresh.uuid
        if not is_new:
            _propose_again(stored, reason)
        write_backtest(stored, measured)
        record_event(
            by=by, workspace=get_workspace(workspace_id), verb="propose_rule", subject=stored,
            new={"document": stored.document, "caught": stored.caught, "hit": stored.hit},
            reason=reason[:MAX_REASON],
        )  # fmt: skip
    return Proposed(stored, is_new)


def _check_is_no_rule(workspace_id: int, rule: Rule) -> None:
    same = rules_by_key(workspace_id=workspace_id, tools=[rule.applies_to.tool]).get(rule_key(rule))
    if same is not None:
        raise Refused(f"The rule “{same.name}” ({same.uuid}) says the same; it is {same.status}.")


def _named_calls(workspace_id: int, places: list[tuple[UUID, int]]) -> list[int]:
    found = calls_at(workspace_id=workspace_id, places=places)
    for index, place in enumerate(places):
        if place not in found:
            raise UnknownCallError(index)
    return list(found.values())


def _row(workspace_id: int, rule: Rule, reason: str, by: Actor) -> RuleProposal:
    now = timezone.now()
    return RuleProposal(
        workspace_id=workspace_id, key=rule_key(rule), source="agent", name=name_of(rule),
        tool=rule.applies_to.tool[:200], action_type=rule.action.action_type, document=body_of(rule),
        reason=reason[:MAX_REASON], proposed_by=by.name[:200], proposed_by_uuid=by.uuid,
        proposed_at=now, updated_at=now,
    )  # fmt: skip


def name_of(rule: Rule) -> str:
    """What a proposed rule is called where it has no name."""
    return (rule.name or rule.description or rule.describe())[:200]


def _propose_again(stored: RuleProposal, reason: str) -> None:
    """The same rule gains evidence while it waits, and comes back where only its proposer took it back."""
    if stored.status == "rejected":
        said = f"{stored.decided_by} rejected this rule: {stored.decision_reason}"
        raise Refused(f"{said} A person may propose it again.")
    if stored.status == "accepted":
        raise Refused(f"{stored.decided_by} accepted this rule already.")
    if stored.status == "withdrawn":
        stored.status = check_proposal(stored.status, "propose_again")
        stored.decision_reason, stored.rule, stored.source = "", None, "agent"
    stored.reason = stored.reason or reason[:MAX_REASON]
    stored.times_proposed += 1
    stored.updated_at = timezone.now()
    stored.save(update_fields=PROPOSED_AGAIN)
