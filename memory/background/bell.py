"""The bell that wakes the worker: it may be lost, late or rung twice, and never holds up an answer.

The rows are the queue (``analysed_at is null``); the sweep finds what no bell announced. So a broker that is
down, slow or absent costs the caller nothing: a daemon thread rings, at most a few times a second.
"""

import logging
import os
import threading
import time

from celery import current_app

TASK_NAME = "memory.analyse_backlog"
PAUSE_S = 0.3
BACK_OFF_S = 5.0
ENOUGH_WAITING = 20
log = logging.getLogger(__name__)


class Bell:
    """One for each process; the thread starts with the first ring (after any fork)."""

    def __init__(self) -> None:
        self._news = threading.Event()
        self._process = 0
        self._lock = threading.Lock()

    def ring(self) -> None:
        """Say that there is something to look at. Returns at once and raises nothing."""
        self._news.set()
        if self._process != os.getpid():
            with self._lock:
                if self._process != os.getpid():
                    self._process = os.getpid()
                    threading.Thread(target=self._keep_ringing, name="bell", daemon=True).start()

    def _keep_ringing(self) -> None:
        is_quiet = False
        while True:
            self._news.wait()
            self._news.clear()
            try:
                send()
            except Exception as error:  # a broker fails in its own ways; the sweep is the answer to all
                if not is_quiet:
                    log.warning("The broker cannot be reached (%s); the sweep will find the work.", error)
                is_quiet = True
                time.sleep(BACK_OFF_S)
            else:
                is_quiet = False
                time.sleep(PAUSE_S)


def send() -> None:
    """Put one message into the queue, unless enough of them lie there unread."""
    with current_app.connection_for_write() as broker:
        broker.ensure_connection(max_retries=1, timeout=2)
        queue = current_app.conf.task_default_queue
        waiting = broker.default_channel.queue_declare(queue=queue, durable=True, auto_delete=False)
        if waiting.message_count < ENOUGH_WAITING:
            current_app.send_task(TASK_NAME, connection=broker, retry=False, ignore_result=True)


BELL = Bell()


def ring() -> None:
    """Wake the worker soon."""
    BELL.ring()
