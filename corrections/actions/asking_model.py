"""Asking a language model for a rule against an error pattern, and trying what it drafted."""

from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone

from corrections.actions.measuring import measure_rule, write_backtest
from corrections.background.rule_drafting import draft_rules
from corrections.domain.lifecycle import Refused
from corrections.domain.proposing import check_proposal
from corrections.models import RuleProposal
from hgmem.rules import RuleError
from memory.actions import record_event
from memory.domain.access import Actor, check_may
from memory.domain.analysis import TASK_LEVEL
from memory.domain.lifecycle import TransitionError
from memory.live.chat import configured_endpoint
from memory.queries.evidence import list_patterns_by_uuid
from memory.queries.linking import pattern_ids_of
from memory.queries.workspaces import get_workspace

LLM = "llm"
NO_MODEL = "No language model is configured: set HGMEM_LLM_URL and HGMEM_LLM_MODEL."


@transaction.atomic
def ask_model(*, workspace_id: int, pattern: UUID, by: Actor) -> RuleProposal:
    """Queue a draft of a rule against a pattern; the worker asks the model. One at a time for a pattern.

    Raises :class:`NotPermitted`, LookupError when there is no such pattern, and :class:`Refused`.
    """
    check_may(by, "draft_rule", within=workspace_id)
    facts = list_patterns_by_uuid(workspace_id=workspace_id, uuids=[pattern])
    if not facts:
        raise LookupError("There is no such error pattern.")
    if facts[0].tool == TASK_LEVEL:
        raise Refused("These tasks failed as a whole: there is no call that a rule could act on.")
    if configured_endpoint() is None:
        raise Refused(NO_MODEL)
    waiting = RuleProposal.objects.filter(
        workspace_id=workspace_id, patterns__uuid=pattern, source=LLM, status="queued"
    )
    if (before := waiting.first()) is not None:
        return before
    now = timezone.now()
    row = RuleProposal.objects.create(
        workspace_id=workspace_id, key=uuid4().hex, source=LLM, status="queued", name=facts[0].title[:200],
        tool=facts[0].tool, action_type="", proposed_by=LLM, proposed_at=now, updated_at=now,
    )  # fmt: skip
    row.patterns.set(pattern_ids_of(workspace_id, [pattern]))
    record_event(
        by=by, workspace=get_workspace(workspace_id), verb="ask_model_for_rule", subject=row,
        new={"pattern": str(pattern)},
    )  # fmt: skip
    return row


@transaction.atomic
def ask_again(*, proposal: RuleProposal, by: Actor) -> RuleProposal:
    """Ask the model once more where it gave up. Raises :class:`NotPermitted`, :class:`Refused`."""
    check_may(by, "draft_rule", within=proposal.workspace_id)
    if configured_endpoint() is None:
        raise Refused(NO_MODEL)
    row = RuleProposal.objects.select_for_update(of=("self",)).select_related("workspace").get(pk=proposal.pk)
    try:
        row.status = check_proposal(row.status, "try_again")
    except TransitionError as error:
        raise Refused(str(error)) from error
    row.attempt, row.claimed_at, row.updated_at = 0, None, timezone.now()
    row.save(update_fields=["status", "attempt", "claimed_at", "updated_at"])
    record_event(by=by, workspace=row.workspace, verb="ask_model_again", subject=row)
    return row


def draft_waiting_rules() -> int:
    """The worker: let the model draft what is queued, and give each draft its backtest; how many there are.

    A draft whose backtest was lost with its worker is tried by the next turn.
    """
    draft_rules()
    untried = RuleProposal.objects.filter(source=LLM, status="proposed", failures=0, good=0)
    done = 0
    for row in untried.order_by("pk")[:20]:
        patterns = list(row.patterns.values_list("uuid", flat=True))
        try:
            measured = measure_rule(
                workspace_id=row.workspace_id, document=row.document, patterns=patterns, now=timezone.now()
            )
        except RuleError:
            continue
        with transaction.atomic():
            write_backtest(row, measured, patterns=patterns)
        done += 1
    return done
