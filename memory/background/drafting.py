"""Drafting rewrites: from queued rows, one at a time, as often as anybody likes.

A worker claims a row by compare and set and drafts outside of any transaction (a model may take a minute). A
killed worker's claim is taken over when its lease is up; after three claims the row is given up. What was
drafted is written only if the claim is still the same, so of two workers at one row one writes.
"""

import logging
import time
from datetime import datetime, timedelta

from django.conf import settings
from django.db import OperationalError, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from memory.background.bell import DRAFT_TASK, ring
from memory.background.draft_writing import Draft, write_draft
from memory.background.looking import look
from memory.models import RewriteProposal

DEADLINE_S = 5.0
MAX_ATTEMPTS = 3
log = logging.getLogger(__name__)


def draft_backlog(deadline_s: float = DEADLINE_S) -> int:
    """Draft queued rewrites until none waits or the time is up; how many were drafted.

    Safe to run anywhere, at any time, many at once, and to kill at any moment.
    """
    until = time.monotonic() + deadline_s
    count = 0
    while time.monotonic() < until:
        claimed = claim_next(timezone.now())
        if claimed is None:
            return count
        _draft(claimed)
        count += 1
    ring(DRAFT_TASK)
    return count


def waiting_drafts(now: datetime) -> QuerySet[RewriteProposal]:
    """Queued rows that nobody is at, oldest first."""
    lease = now - timedelta(seconds=settings.REWRITE_LEASE_S)
    rows = RewriteProposal.objects.filter(Q(claimed_at=None) | Q(claimed_at__lt=lease), status="queued")
    return rows.order_by("id")


def claim_next(now: datetime) -> RewriteProposal | None:
    """The oldest row that waits, claimed for this worker; None when there is none."""
    while True:
        row = waiting_drafts(now).first()
        if row is None:
            return None
        mine = RewriteProposal.objects.filter(
            pk=row.pk, status="queued", attempt=row.attempt, claimed_at=row.claimed_at
        )
        if mine.update(attempt=F("attempt") + 1, claimed_at=now):
            row.attempt, row.claimed_at = row.attempt + 1, now
            return row


def _draft(row: RewriteProposal) -> None:
    if row.attempt > MAX_ATTEMPTS:
        said = f"Given up after {MAX_ATTEMPTS} workers did not finish it. {row.last_error}".strip()
        write_draft(row, Draft(step="give_up", said=said))
        return
    try:
        write_draft(row, look(row))
    except OperationalError as error:
        log.info("The draft of rewrite %s waits: %s", row.uuid, error)
        _release(row, f"{type(error).__name__}: {error}")
    except Exception as error:
        log.exception("Rewrite %s cannot be drafted.", row.uuid)
        _release(row, f"{type(error).__name__}: {error}")


def _release(row: RewriteProposal, error: str) -> None:
    """Back into the queue with what went wrong; the attempt counts."""
    with transaction.atomic():
        mine = RewriteProposal.objects.filter(pk=row.pk, status="queued", attempt=row.attempt)
        mine.update(claimed_at=None, last_error=error[:2_000])
