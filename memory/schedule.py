"""What the clock starts: the sweep that finds what no bell announced."""

from celery import shared_task

from memory.background import analyse, linking

SWEEP_S = 2.0


@shared_task(name="memory.sweep")
def sweep() -> None:
    """Everything that is still to be looked at, whether or not a bell was rung."""
    analyse.analyse_backlog()
    linking.link_patterns()


BEAT = {
    "memory-sweep": {"task": "memory.sweep", "schedule": SWEEP_S, "options": {"expires": SWEEP_S}},
}
"""Joined into the beat schedule by the Celery application."""
