"""Writing what came of a wish for a rewrite: once, by whoever holds the claim."""

import logging
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec
from django.db import transaction
from django.utils import timezone

from memory.background.approving import Entries, approve_locked, prepare_entries
from memory.background.storms import watch_lineage
from memory.domain.lifecycle import PROPOSAL_TRANSITIONS, check_transition
from memory.domain.rewriting.accepting import accept
from memory.domain.rewriting.carrying import changed_nodes
from memory.domain.rewriting.guard import Verdict
from memory.domain.rewriting.policy import POLICY_REWRITERS, safe_policy
from memory.domain.rewriting.proposal import InvalidRewriteError, Rewrite, read_rewrite, write_rewrite
from memory.models import Lineage, Path, RewriteProposal, Workspace
from memory.permissions import system_actor
from memory.queries.path_documents import read_path
from memory.queries.rewrites import list_touched
from memory.writer.redactors import scrub_for

POLICY = "auto-approve policy"
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Draft:
    """What came of a wish: a step of the proposal's lifecycle, the sentence for people, the rewrite."""

    step: str
    said: str = ""
    rewrite: Rewrite | None = None
    rewriter: str = ""
    verdict: Verdict | None = None
    transcript: list[dict[str, Any]] = field(default_factory=list)
    cost: dict[str, Any] = field(default_factory=dict)
    confidence: float | None = None


def write_draft(row: RewriteProposal, draft: Draft) -> bool:
    """Write it if the claim is still this worker's; whether it was.

    What a policy approves is approved in the same transaction.
    """
    document, touched = _prepare(row, draft)
    entries = _entries_by_policy(row, draft, document)
    now = timezone.now()
    with transaction.atomic():
        lineage = Lineage.objects.select_for_update(no_key=True).get(pk=row.lineage_id)
        locked = RewriteProposal.objects.select_for_update(of=("self",)).get(pk=row.pk)
        if (locked.status, locked.attempt) != ("queued", row.attempt):
            return False
        locked.status = check_transition(PROPOSAL_TRANSITIONS, draft.step, locked.status)
        locked.proposal, locked.touched, locked.rewriter = document, touched, draft.rewriter
        locked.guard = _verdict(draft)
        locked.transcript, locked.cost = draft.transcript, draft.cost
        locked.last_error = draft.said[:2_000]
        locked.claimed_at = None
        locked.revision += 1
        locked.save()
        if document is not None and locked.trigger != "person":
            storm = watch_lineage(lineage, now=now)
            if not storm.is_storm:
                _approve_by_policy(locked, draft, entries, now)
    return True


def touched_by(path: Path, rewrite: Rewrite) -> list[dict[str, Any]]:
    """The nodes that the rewrite takes away and other paths use (:func:`list_touched`).

    Raises InvalidRewriteError for what cannot be applied.
    """
    before = read_path(path)
    return list_touched(path, changed_nodes(before, accept(before, rewrite)))


def _verdict(draft: Draft) -> dict[str, Any]:
    """The guard's verdict, with the rewriter's own confidence beside it where it has one."""
    verdict: dict[str, Any] = msgspec.to_builtins(draft.verdict) if draft.verdict else {}
    return verdict if draft.confidence is None else {**verdict, "confidence": draft.confidence}


def _prepare(row: RewriteProposal, draft: Draft) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """The document as it is stored, without secrets, and what it touches."""
    if draft.rewrite is None:
        return None, []
    document, _ = scrub_for(row.workspace_id).redactor.redact(write_rewrite(draft.rewrite))
    path = Path.objects.get(pk=row.path_id)
    return document, touched_by(path, read_rewrite(document))


def _entries_by_policy(row: RewriteProposal, draft: Draft, document: dict[str, Any] | None) -> Entries:
    """Index entries for what a policy may approve; asked for before the transaction."""
    workspace = Workspace.objects.get(pk=row.workspace_id)
    if document is None or not safe_policy(workspace.settings).auto_approve:
        return {}
    return prepare_entries(row, document=document)


def _approve_by_policy(proposal: RewriteProposal, draft: Draft, entries: Entries, now: datetime) -> None:
    """Only where the workspace said so, no model wrote it, and nothing at all spoke against it.

    What a rewriter is not sure of is read by a person.
    """
    policy = safe_policy(proposal.workspace.settings)
    is_clear = draft.verdict is not None and draft.verdict.automatic
    is_sure = draft.confidence is None or draft.confidence >= policy.auto_confidence
    if not (policy.auto_approve and draft.rewriter in POLICY_REWRITERS and is_clear and is_sure):
        return
    reason = f"The workspace's policy approves what {draft.rewriter} proposes."
    try:
        with transaction.atomic():
            approve_locked(proposal, by=system_actor(POLICY), now=now, reason=reason, entries=entries)
    except (ValueError, InvalidRewriteError) as error:
        log.warning("The policy could not approve rewrite %s: %s", proposal.uuid, error)
