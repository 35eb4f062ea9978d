"""The Celery application: the bell that wakes the worker. The rows are the queue."""

import os
from importlib import import_module
from pathlib import Path

from celery import Celery

from hgmem_site.folder_broker import use_folder_broker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hgmem_site.settings")

use_folder_broker()
app = Celery("hgmem")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(related_name="schedule")


@app.on_after_finalize.connect
def set_the_clock(sender: Celery, **_: object) -> None:
    """Join what each app wants done by the clock (``BEAT`` in its ``schedule`` module)."""
    for name in ("memory", "corrections", "hgmem_site"):
        sender.conf.beat_schedule = {**sender.conf.beat_schedule, **import_module(f"{name}.schedule").BEAT}


@app.on_configure.connect
def make_broker_folders(**_: object) -> None:
    """Kombu's filesystem transport expects its folders to be there."""
    from django.conf import settings

    if settings.CELERY_BROKER_URL == "filesystem://":
        for name in ("queue", "processed", "control"):
            Path(settings.BROKER_DIR, name).mkdir(parents=True, exist_ok=True)
