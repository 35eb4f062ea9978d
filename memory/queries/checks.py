"""How the installation is: the database, the broker, the worker's backlog."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from memory.models import ImportJob, Task

State = Literal["ok", "late", "down"]
LATE_AFTER_S = 60
"""A backlog older than this says that no worker is at it."""
BROKER_TIMEOUT_S = 0.5


@dataclass(frozen=True)
class Check:
    """One part: ``late`` means work waits and nothing is lost, ``down`` that the part does not answer.

    ``detail`` is for members; ``value`` is the number behind it, in ``unit``.
    """

    name: str
    state: State
    detail: str
    value: float | None = None
    unit: str = ""


def health_checks() -> list[Check]:
    """Every part, each looked at for half a second at most where a network is involved."""
    database = check_database()
    if database.state == "down":
        return [database, check_broker()]
    return [database, check_broker(), check_backlog(), check_imports()]


def check_database() -> Check:
    """One empty query."""
    started = time.perf_counter()
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            cursor.fetchone()
    except DatabaseError as error:
        return Check("database", "down", f"It does not answer: {type(error).__name__}.")
    took_ms = (time.perf_counter() - started) * 1000
    name = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}.get(connection.vendor, connection.vendor)
    return Check("database", "ok", f"{name} answers.", round(took_ms, 2), "ms")


def check_broker() -> Check:
    """Whether messages can be left, and how many wait. Without it the clock still finds the rows."""
    return _guarded("broker", _check_redis if settings.REDIS_URL else _check_folder)


def check_backlog() -> Check:
    """Tasks with something new that the worker has not looked at; the age of the one that waits longest."""
    waiting = Task.objects.unanalysed()
    oldest = waiting.order_by("id").values_list("updated_at", flat=True).first()
    if oldest is None:
        return Check("analysis", "ok", "Everything recorded is analysed.", 0, "s")
    age_s = max(0.0, (timezone.now() - oldest).total_seconds())
    state: State = "late" if age_s > LATE_AFTER_S else "ok"
    said = "The worker is behind, or none runs." if state == "late" else "The worker is at it."
    return Check("analysis", state, said, round(age_s, 1), "s")


def check_imports() -> Check:
    """Applied imports that no worker is at."""
    since = timezone.now() - timedelta(seconds=LATE_AFTER_S)
    count = ImportJob.objects.unattended(since).count()
    if count:
        return Check("imports", "late", "Applied imports wait for a worker.", count, "imports")
    return Check("imports", "ok", "No import waits.", 0, "imports")


def _guarded(name: str, look: Callable[[], Check]) -> Check:
    try:
        return look()
    except Exception as error:  # a broker fails in its own ways; each means the same here
        return Check(name, "down", f"It does not answer: {type(error).__name__}. The clock finds the work.")


def _check_redis() -> Check:
    import redis  # the scale profile only

    client = redis.Redis.from_url(
        settings.REDIS_URL, socket_connect_timeout=BROKER_TIMEOUT_S, socket_timeout=BROKER_TIMEOUT_S
    )
    with client:
        waiting = int(client.llen(settings.CELERY_TASK_DEFAULT_QUEUE))
    return Check("broker", "ok", "Redis answers.", waiting, "messages")


def _check_folder() -> Check:
    folder = Path(settings.BROKER_DIR, "queue")
    if not folder.is_dir():
        return Check("broker", "late", "No worker has started yet.", 0, "messages")
    return Check("broker", "ok", "Messages go through files.", sum(1 for _ in folder.iterdir()), "messages")
