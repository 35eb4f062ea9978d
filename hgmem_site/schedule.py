"""What the clock starts of the site itself: the demo's player."""

from celery import shared_task

from hgmem_site.demo.player import play_waiting

PLAY_S = 2.0


@shared_task(name="hgmem_site.play_demo")
def play_demo() -> None:
    """A slice of every demo that is being played."""
    play_waiting()


BEAT = {
    "play-demo": {"task": "hgmem_site.play_demo", "schedule": PLAY_S, "options": {"expires": PLAY_S}},
}
"""Joined into the beat schedule by the Celery application."""
