"""The analysis of recorded tasks: from rows, in batches, as often as anybody likes."""

import logging

from django.db import Error, OperationalError, connection, transaction
from django.utils import timezone

from memory.background.backlog import insist, work_through
from memory.background.bell import ring
from memory.background.findings import WHOLE_TASK, Looked, write_findings
from memory.background.linking import link_patterns
from memory.background.loading import Claim, claim_batch, load_claims, load_watches
from memory.background.watching import note_news
from memory.domain.analysis import analyse_task
from memory.models import Task

DEADLINE_S = 5.0  # then the worker's other work has its turn
log = logging.getLogger(__name__)


def analyse_backlog(deadline_s: float = DEADLINE_S) -> int:
    """Analyse tasks until the backlog is empty or the time is up; how many were analysed.

    Safe to run anywhere, at any time, many at once, and to kill at any moment.
    """
    count, may_wait = work_through("analysis", _analyse_batch, deadline_s)
    if count:
        link_patterns()
        if may_wait:
            ring()
    return count


def _analyse_batch() -> tuple[int, int]:
    """One batch: how many tasks were claimed, how many written. A bad one is found by going one by one."""
    try:
        return insist(_run_batch)
    except OperationalError:
        raise
    except (Error, ValueError, TypeError, KeyError):
        log.exception("A batch could not be analysed; going through it one by one.")
        return _one_by_one()


def _run_batch() -> tuple[int, int]:
    if connection.features.has_select_for_update_skip_locked:
        with transaction.atomic():
            claims = claim_batch()
            return len(claims), write_findings(_look(claims), timezone.now())
    claims = claim_batch()
    looked = _look(claims)
    with transaction.atomic():
        return len(claims), write_findings(looked, timezone.now())


def _look(claims: list[Claim]) -> list[Looked]:
    watches = load_watches(claim.workspace_id for claim in claims)
    return [Looked(claim, analyse_task(claim.task, watches[claim.workspace_id])) for claim in claims]


def _one_by_one() -> tuple[int, int]:
    """The oldest tasks, each alone; what cannot be written is marked, so that nothing waits behind it."""
    tasks = list(Task.objects.unanalysed().order_by("id")[:100])
    written = 0
    for task in tasks:
        try:
            with transaction.atomic():
                written += write_findings(_look(load_claims([task])), timezone.now())
        except OperationalError:
            raise
        except Exception as error:
            log.exception("Task %s cannot be analysed.", task.uuid)
            mark_unreadable(task, f"{type(error).__name__}: {error}")
            written += 1
    return len(tasks), written


@transaction.atomic
def mark_unreadable(task: Task, reason: str) -> None:
    """Take a task out of the backlog with the reason, until it changes."""
    Task.objects.filter(pk=task.pk, revision=task.revision, analysed_at=None).update(
        analysed_at=timezone.now(), analysis_error=f"{WHOLE_TASK}{reason}"[:2_000]
    )
    note_news([task.pk])
