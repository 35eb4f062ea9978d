"""The Celery application: the bell that wakes the worker. The rows are the queue."""

import os
from pathlib import Path

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hgmem_site.settings")

app = Celery("hgmem")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(related_name="schedule")


@app.on_configure.connect
def make_broker_folders(**_: object) -> None:
    """Kombu's filesystem transport expects its folders to be there."""
    from django.conf import settings

    if settings.CELERY_BROKER_URL == "filesystem://":
        for name in ("queue", "processed", "control"):
            Path(settings.BROKER_DIR, name).mkdir(parents=True, exist_ok=True)
