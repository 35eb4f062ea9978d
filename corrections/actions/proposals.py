"""Deciding on proposed rules: accept, reject, take a rejection back; several at once."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from django.db import transaction
from django.utils import timezone

from corrections.actions.accepting import open_change
from corrections.actions.proposing import name_of
from corrections.domain.documents import body_of
from corrections.domain.lifecycle import ReasonMissing, Refused
from corrections.domain.proposing import check_proposal, read_proposed, rule_key
from corrections.models import ChangeRequest, Rule, RuleProposal
from corrections.queries.proposals import rules_by_key
from hgmem.rules import Rule as ServedRule
from hgmem.rules import RuleError
from memory.actions import record_event
from memory.domain.access import Actor, NotPermitted, check_may
from memory.domain.lifecycle import TransitionError

MAX_REASON = 2_000
DECISION = ("status", "rule", "change", "decided_by", "decided_at", "decision_reason", "updated_at")


@dataclass(frozen=True)
class Accepted:
    """What became of an accepted proposal: the rule and its change request."""

    proposal: RuleProposal
    rule: Rule
    change: ChangeRequest


@transaction.atomic
def accept_proposal(*, proposal: RuleProposal, by: Actor, document: Any = None, note: str = "") -> Accepted:
    """Draft the rule and ask for its publication; the accepter's approval counts if the policy lets it.

    ``document`` replaces the proposed one: who changes anything in it is its author.
    Raises :class:`NotPermitted`, :class:`Refused` (decided already, or a rule that says the same is there),
    :class:`hgmem.rules.RuleError`.
    """
    check_may(by, "review_change", within=proposal.workspace_id)
    row = _locked(proposal)
    status = _step(row, "accept")
    rule = read_proposed(document if document is not None else row.document)
    edited = document is not None and _body(rule) != _body(read_proposed(row.document))
    same = rules_by_key(workspace_id=row.workspace_id, tools=[rule.applies_to.tool]).get(rule_key(rule))
    if same is not None:
        raise Refused(f"The rule “{same.name}” says the same; it is {same.status}.")
    body = _body(rule)
    rule_made, change = open_change(row, body, by=by, edited=edited, note=note[:500])
    row.rule, row.change = rule_made, change
    row.status = status
    _decide(row, by, note)
    record_event(
        by=by, workspace=row.workspace, verb="accept_proposal", subject=row,
        old={"status": "proposed"}, new={"status": status, "rule": str(rule_made.uuid), "edited": edited},
        reason=note,
    )  # fmt: skip
    return Accepted(row, rule_made, change)


@transaction.atomic
def reject_proposal(*, proposal: RuleProposal, by: Actor, reason: str) -> RuleProposal:
    """Say no, with the reason. The inducer does not propose it again.

    Raises :class:`NotPermitted`, :class:`Refused`, :class:`ReasonMissing`.
    """
    check_may(by, "review_change", within=proposal.workspace_id)
    if not reason.strip():
        raise ReasonMissing("Say why it is rejected.")
    row = _locked(proposal)
    row.status = _step(row, "reject")
    _decide(row, by, reason)
    record_event(
        by=by, workspace=row.workspace, verb="reject_proposal", subject=row, old={"status": "proposed"},
        new={"status": row.status}, reason=reason,
    )  # fmt: skip
    return row


@transaction.atomic
def propose_again(*, proposal: RuleProposal, by: Actor, reason: str = "") -> RuleProposal:
    """Take a rejection (or a withdrawal) back: it waits for a decision again.

    Raises :class:`NotPermitted`, :class:`Refused`.
    """
    check_may(by, "review_change", within=proposal.workspace_id)
    row = _locked(proposal)
    before, row.status = row.status, _step(row, "propose_again")
    row.rule = None
    _decide(row, by, reason)  # the name keeps the inducer from taking it back
    record_event(
        by=by, workspace=row.workspace, verb="propose_again", subject=row, old={"status": before},
        new={"status": row.status}, reason=reason,
    )  # fmt: skip
    return row


def decide_proposals(
    *, proposals: Iterable[RuleProposal], do: Literal["accept", "reject"], by: Actor, reason: str
) -> list[str]:
    """Decide each in a transaction of its own with the same words; the refusals, each with its name.

    Raises :class:`NotPermitted`, and :class:`ReasonMissing` for a rejection without a reason.
    """
    check_may(by, "review_change")
    if do == "reject" and not reason.strip():
        raise ReasonMissing("Say why they are rejected.")
    refused = []
    for proposal in proposals:
        try:
            if do == "accept":
                accept_proposal(proposal=proposal, by=by, note=reason)
            else:
                reject_proposal(proposal=proposal, by=by, reason=reason)
        except (Refused, RuleError, NotPermitted) as refusal:
            refused.append(f"{proposal.name}: {refusal}")
    return refused


def _body(rule: ServedRule) -> dict[str, Any]:
    return {"name": name_of(rule)} | body_of(rule)


def _locked(proposal: RuleProposal) -> RuleProposal:
    """The row as it is now, locked until the transaction ends."""
    return (
        RuleProposal.objects.select_for_update(of=("self",)).select_related("workspace").get(pk=proposal.pk)
    )


def _step(row: RuleProposal, step: str) -> str:
    try:
        return check_proposal(row.status, step)
    except TransitionError as error:
        who = f" {row.decided_by} decided before." if row.decided_by else ""
        raise Refused(f"{error}{who}") from error


def _decide(row: RuleProposal, by: Actor, reason: str) -> None:
    row.decided_by, row.decided_at = by.name[:200], timezone.now()
    row.decision_reason, row.updated_at = reason[:MAX_REASON], row.decided_at
    row.save(update_fields=DECISION)
