"""What the clock starts in the corrections app."""

from celery import shared_task
from django.utils import timezone

from corrections.actions.asking_model import draft_waiting_rules
from corrections.actions.changes import publish_due_changes
from corrections.actions.controlling import look_at_canaries
from corrections.actions.judging import doubt_rules, judge_rules
from corrections.actions.publishing import expire_overdue_rules
from corrections.actions.rulings import end_expired_rulings
from corrections.actions.scanning import scan_after_tool_changes
from corrections.background.impacts import open_impacts
from corrections.background.inducing import induce_backlog
from corrections.background.outcomes import settle_exposures
from corrections.background.scanning import scan_backlog
from corrections.background.settle import count_backlog, settle_backlog, store_backlog
from corrections.background.staleness import mark_stale_rules
from corrections.background.texts import collect_rule_texts
from memory.permissions import system_actor
from memory.queries.health import is_analysis_waiting

INDUCE_S = 2.0
DRAFT_S = 3.0
CANARIES_S = 3.0
CLOCK = system_actor("the clock")


@shared_task(name="corrections.expire_overdue_rules")
def expire_overdue() -> None:
    """Rules whose window has ended."""
    expire_overdue_rules(now=timezone.now(), by=CLOCK)


@shared_task(name="corrections.publish_due_changes")
def publish_due() -> None:
    """Approved changes whose time has come."""
    publish_due_changes(now=timezone.now(), by=CLOCK)


@shared_task(name="corrections.control_canaries")
def control_canaries() -> None:
    """Canaries with news: ramped, promoted, rolled back or held; those that wait are started."""
    look_at_canaries(now=timezone.now(), by=CLOCK)


@shared_task(name="corrections.settle_receipts")
def settle_receipts() -> None:
    """Receipts that experiences refer to, and the counters of their rules."""
    store_backlog()
    settle_backlog()
    count_backlog()


@shared_task(name="corrections.settle_exposures")
def settle_outcomes() -> None:
    """How tasks ended that met a rule on trial."""
    settle_exposures()


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


@shared_task(name="corrections.mark_stale_rules")
def mark_stale() -> None:
    """Rules that somebody should look at again."""
    mark_stale_rules(timezone.now())


@shared_task(name="corrections.collect_rule_texts")
def collect_texts() -> None:
    """What people search by meaning: rules that are new or changed. The memory room embeds them."""
    collect_rule_texts()


@shared_task(name="corrections.open_impacts")
def open_tool_impacts() -> None:
    """Tools whose schema or version changed."""
    open_impacts()


@shared_task(name="corrections.scan_conflicts")
def scan_conflicts() -> None:
    """Conflict scans that wait: those of one rule, and a slice of a full one."""
    scan_backlog(give_way=is_analysis_waiting)


@shared_task(name="corrections.keep_rulings")
def keep_rulings() -> None:
    """Rulings whose time has run out end; a tool's new schema has everything scanned again."""
    now = timezone.now()
    end_expired_rulings(now=now, by=CLOCK)
    scan_after_tool_changes(now=now, by=CLOCK)


BEAT = {
    "control-canaries": {
        "task": "corrections.control_canaries",
        "schedule": CANARIES_S,
        "options": {"expires": CANARIES_S},
    },
    "draft-rules": {
        "task": "corrections.draft_rules",
        "schedule": DRAFT_S,
        "options": {"expires": DRAFT_S},
    },
    "induce": {"task": "corrections.induce", "schedule": INDUCE_S, "options": {"expires": INDUCE_S}},
    "scan-conflicts": {
        "task": "corrections.scan_conflicts",
        "schedule": 1.0,
        "options": {"expires": 1.0},
    },
    "keep-rulings": {"task": "corrections.keep_rulings", "schedule": 5.0},
    "expire-overdue-rules": {"task": "corrections.expire_overdue_rules", "schedule": 5.0},
    "open-tool-impacts": {"task": "corrections.open_impacts", "schedule": 10.0},
    "publish-due-changes": {"task": "corrections.publish_due_changes", "schedule": 2.0},
    "judge-rules": {"task": "corrections.judge_rules", "schedule": 20.0},
    "settle-exposures": {"task": "corrections.settle_exposures", "schedule": 3.0},
    "settle-receipts": {"task": "corrections.settle_receipts", "schedule": 3.0},
    "mark-stale-rules": {"task": "corrections.mark_stale_rules", "schedule": 3600.0},
    "collect-rule-texts": {
        "task": "corrections.collect_rule_texts",
        "schedule": 10.0,
        "options": {"expires": 10.0},
    },
}
"""Joined into the beat schedule by the Celery application."""
