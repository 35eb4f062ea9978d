"""A language model drafts rules from error patterns: from queued rows, one at a time.

A worker claims a row by compare and set and asks the model outside of any transaction. A killed worker's
claim is taken over when its lease is up; after three claims the row is given up. The model's rule is checked
by the engine, tried on the recorded calls and then waits for a person, like every other proposal.
"""

import logging
import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, OperationalError, transaction
from django.db.models import F, Q
from django.utils import timezone

from corrections.background.rule_prompts import QUESTION, RuleReply, opening
from corrections.domain.documents import body_of
from corrections.domain.proposing import check_proposal, read_proposed, rule_key
from corrections.models import RuleProposal
from corrections.queries.proposals import rules_by_key
from hgmem.rules import Rule, RuleError
from memory.live.chat import Chat, ChatError, configured_endpoint
from memory.live.talking import MAX_TRIES, Talk, UnusableReply
from memory.queries.evidence import list_failing_calls, list_patterns_by_uuid, list_recent_calls

DEADLINE_S = 5.0
MAX_ATTEMPTS = 3
SHOWN = 30
DRAFTED = (
    "key", "status", "name", "action_type", "document", "reason", "transcript", "cost", "last_error",
    "claimed_at", "updated_at",
)  # fmt: skip
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Draft:
    """What came of asking: a rule with its reason, or why there is none."""

    rule: Rule | None = None
    said: str = ""
    transcript: list[dict[str, Any]] = field(default_factory=list)
    cost: dict[str, Any] = field(default_factory=dict)


def draft_rules(deadline_s: float = DEADLINE_S) -> list[int]:
    """Draft queued proposals until none waits or the time is up; the ids of those that became proposals.

    Safe to run anywhere, at any time, many at once, and to kill at any moment.
    """
    until = time.monotonic() + deadline_s
    made: list[int] = []
    while time.monotonic() < until and (row := claim_next(timezone.now())) is not None:
        if _work_on(row):
            made.append(row.pk)
    return made


def claim_next(now: datetime) -> RuleProposal | None:
    """The oldest row that waits, claimed for this worker; None when there is none."""
    lease = now - timedelta(seconds=settings.REWRITE_LEASE_S)
    waiting = RuleProposal.objects.filter(Q(claimed_at=None) | Q(claimed_at__lt=lease), status="queued")
    while (row := waiting.order_by("id").first()) is not None:
        mine = RuleProposal.objects.filter(
            pk=row.pk, status="queued", attempt=row.attempt, claimed_at=row.claimed_at
        )
        if mine.update(attempt=F("attempt") + 1, claimed_at=now):
            row.attempt, row.claimed_at = row.attempt + 1, now
            return row
    return None


def _work_on(row: RuleProposal) -> bool:
    """Whether it became a proposal."""
    if row.attempt > MAX_ATTEMPTS:
        return _write(row, Draft(said=f"Given up after {MAX_ATTEMPTS} workers did not finish it."))
    try:
        return _write(row, _ask(row))
    except IntegrityError:
        return _write(row, Draft(said="The model's rule is proposed already, or was decided before."))
    except OperationalError as error:
        log.info("The draft of proposal %s waits: %s", row.uuid, error)
        mine = RuleProposal.objects.filter(pk=row.pk, status="queued", attempt=row.attempt)
        mine.update(claimed_at=None, last_error=f"{type(error).__name__}: {error}"[:2_000])
        return False


def _ask(row: RuleProposal) -> Draft:
    """Ask the model about the pattern's calls. Nothing is locked meanwhile."""
    endpoint = configured_endpoint()
    if endpoint is None:
        return Draft(said="No language model is configured here.")
    pattern = row.patterns.values_list("uuid", flat=True)
    facts = list_patterns_by_uuid(workspace_id=row.workspace_id, uuids=pattern)
    if not facts:
        return Draft(said="The error pattern is not there any more.")
    failing = list_failing_calls(
        workspace_id=row.workspace_id, patterns=[fact.uuid for fact in facts], limit=SHOWN
    )
    recent = list_recent_calls(workspace_id=row.workspace_id, tool=row.tool, limit=4 * SHOWN)
    good = [call for call in recent if not call.failed]
    talk = Talk(Chat(endpoint), opening(tool=row.tool, title=facts[0].title, failing=failing, good=good))
    said, rule = "", None
    try:
        reply = talk.step("rule", QUESTION, RuleReply, lambda reply: _check(reply, row.tool))
        rule, said = _read(reply, row.tool), reply.reason
        same = rules_by_key(workspace_id=row.workspace_id, tools=[row.tool]).get(rule_key(rule))
        if same is not None:
            rule, said = None, f"The rule “{same.name}” says the same."
    except ChatError as error:
        said = str(error)
    except UnusableReply as error:
        said = f"{MAX_TRIES} answers could not be used; the last one: {error}"
    return Draft(rule, said, talk.kept(row.workspace_id), talk.chat.spent.cost(endpoint))


def _read(reply: RuleReply, tool: str) -> Rule:
    """The rule in it, for this tool whatever the model says."""
    return read_proposed(reply.rule | {"applies_to": {"tool": tool}})


def _check(reply: RuleReply, tool: str) -> None:
    """The engine's faults as words to the model."""
    try:
        _read(reply, tool)
    except RuleError as error:
        said = "; ".join(f"rule.{fault['field']}: {fault['detail']}" for fault in error.errors[:5])
        raise UnusableReply(said or str(error)) from error


def _write(row: RuleProposal, draft: Draft) -> bool:
    """Write what came of it if the claim is still this worker's; whether it became a proposal.

    Raises IntegrityError when the rule is proposed already.
    """
    with transaction.atomic():
        locked = RuleProposal.objects.select_for_update(of=("self",)).get(pk=row.pk)
        if (locked.status, locked.attempt) != ("queued", row.attempt):
            return False
        rule = draft.rule
        locked.status = check_proposal(locked.status, "draft" if rule else "give_up")
        locked.transcript, locked.cost = draft.transcript, draft.cost
        locked.claimed_at, locked.updated_at = None, timezone.now()
        locked.last_error = "" if rule else draft.said[:2_000]
        if rule is not None:
            locked.key, locked.document = rule_key(rule), body_of(rule)
            locked.name = (rule.name or rule.describe())[:200]
            locked.action_type, locked.reason = rule.action.action_type, draft.said[:2_000]
        locked.save(update_fields=DRAFTED)
        return rule is not None
