"""The inducer at work: every workspace's finished tasks, in slices, in order, by one process at a time.

A process takes the workspace's lease by compare and set and reads for at most a slice. What it proposes is
written in one transaction with the cursor, and only while the lease is still its own. A process that starts
cold first reads the newest evidence again and writes nothing before it is where another one was.
"""

import logging
import os
import time
from datetime import timedelta
from uuid import uuid4

from django.conf import settings
from django.db import Error, OperationalError, transaction
from django.db.models import F
from django.utils import timezone

from corrections.background.proposal_writing import write_proposals
from corrections.domain.proposing import cursor_of
from corrections.live.inducers import READERS, Reader
from corrections.models import Induction
from memory.queries.finished import newest_by_workspace

SLICE_S = 0.5
log = logging.getLogger(__name__)
_BORN = uuid4().hex[:16]


def induce_backlog(slice_s: float = SLICE_S) -> int:
    """Read what is new in every workspace until the slice is over; how many calls were new.

    Safe to run anywhere, at any time, many at once, and to kill at any moment.
    """
    until = time.monotonic() + slice_s
    cursors = dict(Induction.objects.values_list("workspace_id", "cursor"))
    count = 0
    for workspace_id, newest in newest_by_workspace().items():
        if cursor_of(newest) > cursors.get(workspace_id, 0):
            count += _induce(workspace_id, until)
        if time.monotonic() >= until:
            break
    return count


def _induce(workspace_id: int, until: float) -> int:
    before = Induction.objects.filter(workspace=workspace_id).values_list("claimed_by", flat=True).first()
    induction = claim_induction(workspace_id)
    if induction is None:
        return 0
    try:
        return _slice(induction, until, is_ours=before == process_name())
    except OperationalError as error:
        log.info("The inducer waits: %s", error)
    except (Error, ValueError, TypeError, KeyError, RecursionError) as error:
        log.exception("The inducer failed in workspace %s.", workspace_id)
        said = f"{type(error).__name__}: {error}"[:2_000]
        Induction.objects.filter(pk=induction.pk).update(last_error=said)
    READERS.drop(workspace_id)
    return 0


def _slice(induction: Induction, until: float, *, is_ours: bool) -> int:
    reader = READERS.get(induction.workspace_id, induction.cursor)
    if not is_ours:
        reader.known = induction.cursor
    reader.work(until)
    if reader.cursor < induction.cursor:
        return 0  # still reading again what was read before
    return _write(induction, reader)


def claim_induction(workspace_id: int) -> Induction | None:
    """The workspace's row, with this process's lease on it; None while another process has it."""
    row, _created = Induction.objects.get_or_create(workspace_id=workspace_id)
    now, me = timezone.now(), process_name()
    lease = now - timedelta(seconds=settings.INDUCER_LEASE_S)
    if row.claimed_by not in ("", me) and row.claimed_at is not None and row.claimed_at > lease:
        return None
    unchanged = Induction.objects.filter(pk=row.pk, claimed_by=row.claimed_by, claimed_at=row.claimed_at)
    if not unchanged.update(claimed_by=me, claimed_at=now):
        return None
    row.claimed_by, row.claimed_at = me, now
    return row


def process_name() -> str:
    """This process, and no other one before or after it."""
    return f"{_BORN}-{os.getpid()}"


def _write(induction: Induction, reader: Reader) -> int:
    now, count = timezone.now(), reader.new
    with transaction.atomic():
        mine = Induction.objects.select_for_update().filter(pk=induction.pk, claimed_by=process_name())
        if not mine.exists():
            return 0
        write_proposals(reader, now=now)
        mine.update(
            cursor=max(induction.cursor, reader.cursor), calls=F("calls") + reader.settle(), claimed_at=now,
            updated_at=now, last_error=reader.fault,
        )  # fmt: skip
    reader.new = 0
    return count
