"""What people and agents do about rewrites: ask for one, approve, reject, edit, try again."""

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone

from memory.background.approving import (
    StaleRewriteError,
    UnknownCarryError,
    approve_locked,
    decide,
    lock_proposal,
    prepare_entries,
)
from memory.background.bell import DRAFT_TASK, ring
from memory.background.draft_writing import touched_by
from memory.background.rewriting import Wish, want_rewrite, whole_of
from memory.domain.access import Actor, check_may
from memory.domain.lifecycle import PROPOSAL_TRANSITIONS, TransitionError, check_transition
from memory.domain.path_settings import changed_settings, path_settings
from memory.domain.rewriting.policy import REWRITERS, InvalidPolicyError, RewritePolicy, read_policy
from memory.domain.rewriting.proposal import read_rewrite, write_rewrite
from memory.events import record_event
from memory.models import Failure, Path, RewriteProposal, Task, Workspace
from memory.writer.redactors import scrub_for

__all__ = [
    "NotRewritableError",
    "ReasonMissingError",
    "StaleRewriteError",
    "UnknownCarryError",
    "approve_rewrite",
    "edit_rewrite",
    "reject_rewrite",
    "request_rewrite",
    "retry_rewrite",
    "set_rewrite_policy",
]

MAX_REASON = 2_000


class ReasonMissingError(ValueError):
    """A decision that needs a reason came without one."""


class NotRewritableError(ValueError):
    """Nothing can be asked of this path; the text says why."""


@transaction.atomic
def request_rewrite(
    *,
    path: Path,
    reason: str,
    by: Actor,
    new_goal: str = "",
    observation: str = "",
    rewriter: str = "",
    task: Task | None = None,
    failure: Failure | None = None,
) -> RewriteProposal:
    """Ask for a rewrite; the worker drafts it. A member's wish overrules the guard, a key's does not.

    Raises :class:`NotPermitted`, :class:`ReasonMissingError`, :class:`NotRewritableError`, ValueError for a
    rewriter that does not exist.
    """
    check_may(by, "request_rewrite", within=path.workspace_id)
    is_person = by.kind == "user"
    wish = Wish(
        reason=_said(reason, "Say why the path should be rewritten."),
        cause=str(uuid4()),
        new_goal=new_goal,
        observation=observation,
        rewriter=_known_rewriter(rewriter),
        requested_by=by.name,
        overruled_by=by.name if is_person else "",
    )
    trigger = "person" if is_person else "api"
    proposal = want_rewrite(path, trigger=trigger, wish=wish, task=task, failure=failure)
    if proposal is None:
        raise NotRewritableError(_why_not(whole_of(path)))
    record_event(
        by=by, workspace=path.workspace, verb="request_rewrite", subject=proposal,
        new={"path": whole_of(path).key, "rewriter": rewriter}, reason=wish.reason,
    )  # fmt: skip
    return proposal


def approve_rewrite(
    *,
    proposal: RewriteProposal,
    by: Actor,
    revision: int | None = None,
    carry: Collection[UUID] = (),
    reason: str = "",
) -> Path:
    """Make the next version of the path; the new version. ``carry``: other paths that get the same change.

    Of two approvals at once one makes the version. Raises :class:`NotPermitted`, :class:`StaleRewriteError`
    for a revision or a base version that is not the latest, :class:`UnknownCarryError`, TransitionError,
    InvalidRewriteError.
    """
    check_may(by, "review_rewrite", within=proposal.workspace_id)
    entries = prepare_entries(proposal, carry)
    with transaction.atomic():
        return approve_locked(
            proposal, by=by, now=timezone.now(), revision=revision, carry=carry,
            reason=reason[:MAX_REASON], entries=entries,
        )  # fmt: skip


@transaction.atomic
def reject_rewrite(
    *, proposal: RewriteProposal, reason: str, by: Actor, revision: int | None = None
) -> RewriteProposal:
    """Say no, with the reason. Raises :class:`NotPermitted`, :class:`ReasonMissingError`,
    :class:`StaleRewriteError`, TransitionError.
    """
    check_may(by, "review_rewrite", within=proposal.workspace_id)
    said = _said(reason, "Say why the rewrite is rejected.")
    locked = lock_proposal(proposal, revision)
    old = locked.status
    decide(
        locked, check_transition(PROPOSAL_TRANSITIONS, "reject", old), by=by, reason=said, now=timezone.now()
    )
    _record(locked, "reject_rewrite", by=by, old={"status": old}, reason=said)
    return locked


@transaction.atomic
def edit_rewrite(
    *, proposal: RewriteProposal, document: Mapping[str, Any], revision: int, by: Actor
) -> RewriteProposal:
    """Propose another document; the rewriter's own is kept beside it. A proposal without one gets its first.

    Raises :class:`NotPermitted`, :class:`StaleRewriteError`, InvalidRewriteError with field paths,
    TransitionError for what is queued or decided.
    """
    check_may(by, "review_rewrite", within=proposal.workspace_id)
    clean, _ = scrub_for(proposal.workspace_id).redactor.redact(dict(document))
    rewrite = read_rewrite(clean)
    touched = touched_by(proposal.path, rewrite)
    locked = lock_proposal(proposal, revision)
    old = {"status": locked.status, "document": locked.edited or locked.proposal}
    if locked.status == "queued":
        raise TransitionError("This rewrite is being drafted; wait for it, or reject it.")
    if locked.status != "proposed":
        locked.status = check_transition(PROPOSAL_TRANSITIONS, "propose", locked.status)
    locked.edited, locked.touched = write_rewrite(rewrite), touched
    locked.revision += 1
    locked.save(update_fields=["status", "edited", "touched", "revision"])
    _record(locked, "edit_rewrite", by=by, old=old, new={"document": locked.edited})
    return locked


@transaction.atomic
def retry_rewrite(
    *, proposal: RewriteProposal, by: Actor, revision: int | None = None, rewriter: str = ""
) -> RewriteProposal:
    """Draft again what was handed over or given up: whoever says so has seen what the guard says.

    Raises :class:`NotPermitted`, :class:`StaleRewriteError`, TransitionError, ValueError for a rewriter that
    does not exist.
    """
    check_may(by, "review_rewrite", within=proposal.workspace_id)
    locked = lock_proposal(proposal, revision)
    old = locked.status
    locked.status = check_transition(PROPOSAL_TRANSITIONS, "retry", old)
    wanted = _known_rewriter(rewriter) or locked.request.get("rewriter", "")
    locked.request = {**locked.request, "overruled_by": by.name, "rewriter": wanted}
    locked.attempt, locked.claimed_at, locked.last_error = 0, None, ""
    locked.revision += 1
    locked.save(update_fields=["status", "request", "attempt", "claimed_at", "last_error", "revision"])
    _record(locked, "retry_rewrite", by=by, old={"status": old})
    transaction.on_commit(partial(ring, DRAFT_TASK))
    return locked


@transaction.atomic
def set_rewrite_policy(*, workspace: Workspace, changes: Mapping[str, Any], by: Actor) -> RewritePolicy:
    """Change how the workspace rewrites (the fields of :class:`RewritePolicy`); the policy as it is now.

    Raises :class:`NotPermitted`, InvalidPolicyError.
    """
    check_may(by, "manage_workspace", within=workspace.pk)
    unknown = sorted(changes.keys() - set(RewritePolicy.__struct_fields__))
    if unknown:
        raise InvalidPolicyError(f"{', '.join(unknown)}: no such setting.")
    locked = Workspace.objects.select_for_update().get(pk=workspace.pk)
    kept = path_settings(locked.settings)
    old = {name: kept.get(name) for name in changes}
    locked.settings = changed_settings(locked.settings, changes)
    policy = read_policy(locked.settings)
    locked.save(update_fields=["settings"])
    workspace.settings = locked.settings
    record_event(
        by=by, workspace=locked, verb="set_rewrite_policy", subject=locked, old=old, new=dict(changes)
    )
    return policy


def _record(
    proposal: RewriteProposal,
    verb: str,
    *,
    by: Actor,
    old: dict[str, Any],
    new: dict[str, Any] | None = None,
    reason: str = "",
) -> None:
    """The audit event of a decision."""
    said = {"status": proposal.status, "revision": proposal.revision, **(new or {})}
    record_event(
        by=by, workspace=proposal.workspace, verb=verb, subject=proposal, old=old, new=said, reason=reason
    )


def _said(reason: str, missing: str) -> str:
    said = reason.strip()[:MAX_REASON]
    if not said:
        raise ReasonMissingError(missing)
    return said


def _known_rewriter(name: str) -> str:
    if name and name not in REWRITERS:
        raise ValueError(f"There is no rewriter {name[:40]!r}: {', '.join(REWRITERS)}.")
    return name


def _why_not(path: Path) -> str:
    if path.lineage.retired_at:
        return "The path is retired: restore a version of it first."
    if path.result == "template":
        return "A template is not rewritten."
    return f"This is version {path.version}, which is {path.status}: ask for the active version."
