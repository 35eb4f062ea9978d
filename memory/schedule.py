"""What the clock starts: the sweep that finds what no bell announced, imports, housekeeping."""

from celery import shared_task
from django.utils import timezone

from memory.actions import importing, path_templates, traces
from memory.background import analyse, drafting, linking, outcomes, paths, reindexing, texts, uses, webhooks
from memory.background.insights import counting, sequences, weak_spots

SWEEP_S = 2.0
IMPORTS_S = 2.0
TEXTS_S = 10.0
JUDGE_S = 15.0


@shared_task(name="memory.sweep")
def sweep() -> None:
    """Everything that is still to be looked at, whether or not a bell was rung."""
    analyse.analyse_backlog()
    linking.link_patterns()
    path_templates.load_missing_templates()
    paths.build_backlog()
    reindexing.embed_backlog()
    uses.settle_backlog()


@shared_task(name="memory.count_insights")
def count_insights() -> None:
    """Finished tasks that the insights do not show yet, for at most a part of a worker's time."""
    counting.count_backlog()


@shared_task(name="memory.judge_insights")
def judge_insights() -> None:
    """What is worked out from the counts: verdicts of sequences, weak spots."""
    sequences.rank_kinds()
    weak_spots.find_spots()


@shared_task(name="memory.drop_old_hours")
def drop_old_hours() -> None:
    """Hours of failures that no search for bursts reads any more."""
    weak_spots.drop_old_hours()


@shared_task(name="memory.collect_texts")
def collect_texts() -> None:
    """What people search by meaning: new patterns, and vectors for every new text."""
    texts.collect_pattern_texts()
    texts.embed_texts()


@shared_task(name="memory.mark_stragglers")
def mark_stragglers() -> None:
    """Uses and localizations whose task ended in the instant in which they were written."""
    outcomes.mark_stragglers()


@shared_task(name="memory.sweep_rewrites")
def sweep_rewrites() -> None:
    """Rewrites that wait for a draft, or whose worker died over it."""
    drafting.draft_backlog()


@shared_task(name="memory.carry_on_imports")
def carry_on_imports() -> None:
    """Imports that somebody applied, a slice of each."""
    importing.carry_on_imports()


@shared_task(name="memory.drop_stale_uploads")
def drop_stale_uploads() -> None:
    """Files whose plan nobody applied."""
    importing.drop_stale_uploads()


@shared_task(name="memory.write_traces")
def write_traces() -> None:
    """Calls and tasks whose spans have waited long enough."""
    traces.write_traces()


@shared_task(name="memory.drop_old_traces")
def drop_old_traces() -> None:
    """Spans of traces that ended long ago."""
    traces.drop_old_traces()


@shared_task(name="memory.send_webhooks")
def send_webhooks() -> None:
    """Messages that wait for a webhook."""
    webhooks.send_backlog()


@shared_task(name="memory.drop_old_deliveries")
def drop_old_deliveries() -> None:
    """Messages that ended long ago."""
    webhooks.drop_old_deliveries(timezone.now())


BEAT = {
    "memory-sweep": {"task": "memory.sweep", "schedule": SWEEP_S, "options": {"expires": SWEEP_S}},
    "count-insights": {
        "task": "memory.count_insights",
        "schedule": SWEEP_S,
        "options": {"expires": SWEEP_S},
    },
    "judge-insights": {
        "task": "memory.judge_insights",
        "schedule": JUDGE_S,
        "options": {"expires": JUDGE_S},
    },
    "drop-old-hours": {"task": "memory.drop_old_hours", "schedule": 86_400.0},
    "sweep-rewrites": {
        "task": "memory.sweep_rewrites",
        "schedule": SWEEP_S,
        "options": {"expires": SWEEP_S},
    },
    "carry-on-imports": {
        "task": "memory.carry_on_imports",
        "schedule": IMPORTS_S,
        "options": {"expires": IMPORTS_S},
    },
    "collect-texts": {"task": "memory.collect_texts", "schedule": TEXTS_S, "options": {"expires": TEXTS_S}},
    "write-traces": {"task": "memory.write_traces", "schedule": SWEEP_S, "options": {"expires": SWEEP_S}},
    "drop-old-traces": {"task": "memory.drop_old_traces", "schedule": 86_400.0},
    "send-webhooks": {"task": "memory.send_webhooks", "schedule": 2.0, "options": {"expires": 2.0}},
    "drop-old-deliveries": {"task": "memory.drop_old_deliveries", "schedule": 3600.0},
    "mark-stragglers": {"task": "memory.mark_stragglers", "schedule": 900.0},
    "drop-stale-uploads": {"task": "memory.drop_stale_uploads", "schedule": 3600.0},
}
"""Joined into the beat schedule by the Celery application."""
