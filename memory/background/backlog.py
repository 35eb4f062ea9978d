"""How a backlog of rows is worked through: in batches, until nothing waits or the time is up."""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from django.db import OperationalError

from memory.background.turns import turn

ATTEMPTS = 5
T = TypeVar("T")
log = logging.getLogger(__name__)


def work_through(name: str, batch: Callable[[], tuple[int, int]], deadline_s: float) -> tuple[int, bool]:
    """Do one batch after the other while this process has the turn ``name``.

    ``batch`` says how many rows it took and how many it did; one that took none found nothing waiting.
    Returns how many were done, and whether rows may still wait.
    """
    until = time.monotonic() + deadline_s
    count, may_wait = 0, True
    with turn(name) as mine:
        while mine and may_wait and time.monotonic() < until:
            taken, done = batch()
            count += done
            may_wait = taken > 0
    return count, may_wait


def insist(work: Callable[[], T]) -> T:
    """Try again, up to ``ATTEMPTS`` times, after a deadlock with another worker or a lock that took too long.

    Raises the last OperationalError, and anything else at once.
    """
    for attempt in range(1, ATTEMPTS):
        try:
            return work()
        except OperationalError as error:
            log.info("A batch is tried again: %s", error)
            time.sleep(0.05 * attempt)
    return work()
