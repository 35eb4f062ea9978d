"""Asking for a rewrite: one row for one wish, in the transaction of whoever found the reason.

The worker drafts the rows (:mod:`memory.background.drafting`); the broker only rings.
"""

import hashlib
from functools import partial
from typing import Any

import msgspec
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from memory.background.bell import DRAFT_TASK, ring
from memory.background.storms import watch_lineage
from memory.domain.rewriting.triggers import TRIGGERS
from memory.models import Failure, Localization, Path, RewriteProposal, Task
from memory.queries.paths import ids_calling
from memory.queries.rewrites import OPEN_STATUSES
from memory.writer.redactors import scrub_for

MAX_REASON = 2_000
MAX_GOAL = 4_000
MAX_ENVIRONMENT = 10
"""Paths that one changed tool asks to rewrite: those that agents reuse most."""

ASKED = frozenset({"person", "api"})
"""Triggers behind which somebody asked: each is a wish of its own."""


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """Why a path should be rewritten, and what the rewriter should know.

    ``cause`` makes the same wish one row: the task that failed, the tool's version, a request's own name.
    ``overruled_by`` is a person who asked knowing what the guard may say. ``rewriter`` is one by its name,
    or "" for those of the workspace.
    """

    reason: str
    cause: str = ""
    new_goal: str = ""
    observation: str = ""
    rewriter: str = ""
    requested_by: str = "HGMem"
    overruled_by: str = ""


def want_rewrite(
    path: Path,
    *,
    trigger: str,
    wish: Wish,
    task: Task | None = None,
    failure: Failure | None = None,
    localization: Localization | None = None,
) -> RewriteProposal | None:
    """A rewrite of ``path`` is wanted; the row that says so, new or not, or None where there is no point.

    Call it inside the transaction of what caused it; it is drafted after the commit. Nothing is asked of a
    version that is not active, of a template, or of a part (its whole is asked for instead). What asks by
    itself does not ask again while a proposal for the same version waits. Raises ValueError for an unknown
    trigger.
    """
    if trigger not in TRIGGERS:
        raise ValueError(f"{trigger!r} is no trigger: {', '.join(TRIGGERS)}.")
    whole = whole_of(path)
    if whole.status != "active" or whole.result == "template" or whole.lineage.retired_at:
        return None
    if trigger not in ASKED:
        waiting = RewriteProposal.objects.filter(path=whole, status__in=OPEN_STATUSES).first()
        if waiting:
            return waiting
    fresh = RewriteProposal(
        workspace_id=whole.workspace_id,
        lineage=whole.lineage,
        path=whole,
        trigger=trigger,
        dedupe=_dedupe(whole, trigger, wish.cause),
        task=task,
        failure=failure,
        localization=localization,
        request=_request(whole.workspace_id, wish),
        requested_by=wish.requested_by[:200],
        requested_at=timezone.now(),
    )
    RewriteProposal.objects.bulk_create([fresh], ignore_conflicts=True)
    proposal = RewriteProposal.objects.get(workspace=whole.workspace_id, dedupe=fresh.dedupe)
    if proposal.uuid == fresh.uuid:
        watch_lineage(whole.lineage, now=fresh.requested_at)
        transaction.on_commit(partial(ring, DRAFT_TASK))
    return proposal


def whole_of(path: Path) -> Path:
    """The path that a piece of a path belongs to; itself for a whole one."""
    while path.is_piece and path.container is not None:
        path = path.container
    return path


def environment_changed(workspace_id: int, tool: str, version: int, change: str) -> int:
    """A tool takes another input than before: the paths that agents reuse most are looked at again.

    Returns how many. Call it inside the transaction in which the new schema was learnt.
    """
    wish = Wish(
        reason=f"The input of {tool} changed (version {version}): {change}"[:MAX_REASON],
        cause=f"{tool}:{version}",
        observation=change,
    )
    asked = 0
    for path in _users_of(workspace_id, tool):
        asked += want_rewrite(path, trigger="environment", wish=wish) is not None
    return asked


def _users_of(workspace_id: int, tool: str) -> QuerySet[Path]:
    """Active whole paths that call the tool and that agents reused, the most used first."""
    rows = Path.objects.active().whole().filter(workspace=workspace_id, use_count__gt=0)
    rows = rows.filter(pk__in=ids_calling(workspace_id, tool)).exclude(result="template")
    return rows.select_related("lineage", "container").order_by("-use_count", "-pk")[:MAX_ENVIRONMENT]


def _request(workspace_id: int, wish: Wish) -> dict[str, Any]:
    """What the rewriter is given, capped and without secrets."""
    said = {
        "reason": wish.reason[:MAX_REASON],
        "cause": wish.cause[:MAX_REASON],
        "new_goal": wish.new_goal[:MAX_GOAL],
        "observation": wish.observation[:MAX_GOAL],
    }
    redacted, _ = scrub_for(workspace_id).redactor.redact(said)
    return {**redacted, "rewriter": wish.rewriter, "overruled_by": wish.overruled_by}


def _dedupe(path: Path, trigger: str, cause: str) -> str:
    return hashlib.sha256(f"{path.uuid}\n{trigger}\n{cause}".encode()).hexdigest()
