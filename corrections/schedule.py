"""What the clock starts in the corrections app."""

from celery import shared_task
from django.utils import timezone

from corrections.actions.asking_model import draft_waiting_rules
from corrections.actions.changes import publish_due_changes
from corrections.actions.judging import doubt_rules, judge_rules
from corrections.actions.publishing import expire_overdue_rules
from corrections.background.inducing import induce_backlog
from corrections.background.settle import count_backlog, settle_backlog, store_backlog
from memory.permissions import system_actor

INDUCE_S = 2.0
DRAFT_S = 3.0
CLOCK = system_actor("the clock")


@shared_task(name="corrections.expire_overdue_rules")
def expire_overdue() -> None:
    """Rules whose window has ended."""
    expire_overdue_rules(now=timezone.now(), by=CLOCK)


@shared_task(name="corrections.publish_due_changes")
def publish_due() -> None:
    """Approved changes whose time has come."""
    publish_due_changes(now=timezone.now(), by=CLOCK)


@shared_task(name="corrections.settle_receipts")
def settle_receipts() -> None:
    """Receipts that experiences refer to, and the counters of their rules."""
    store_backlog()
    settle_backlog()
    count_backlog()


@shared_task(name="corrections.induce")
def induce() -> None:
    """Finished tasks that the inducer has not read, a slice of them."""
    induce_backlog()


@shared_task(name="corrections.draft_rules")
def draft_rules() -> None:
    """Rules that somebody asked a language model for."""
    draft_waiting_rules()


@shared_task(name="corrections.judge_rules")
def judge_effects() -> None:
    """Effectiveness from new outcomes; rules that seem to do no good are put to people."""
    judge_rules(now=timezone.now(), by=CLOCK)
    doubt_rules(now=timezone.now(), by=CLOCK)


BEAT = {
    "draft-rules": {
        "task": "corrections.draft_rules",
        "schedule": DRAFT_S,
        "options": {"expires": DRAFT_S},
    },
    "induce": {"task": "corrections.induce", "schedule": INDUCE_S, "options": {"expires": INDUCE_S}},
    "expire-overdue-rules": {"task": "corrections.expire_overdue_rules", "schedule": 5.0},
    "publish-due-changes": {"task": "corrections.publish_due_changes", "schedule": 2.0},
    "judge-rules": {"task": "corrections.judge_rules", "schedule": 20.0},
    "settle-receipts": {"task": "corrections.settle_receipts", "schedule": 3.0},
}
"""Joined into the beat schedule by the Celery application."""
