"""The bell that wakes the worker: it may be lost, late or rung twice, and never holds up an answer.

The rows are the queue (``analysed_at is null``); the sweep finds what no bell announced. So a broker that is
down, slow or absent costs the caller nothing: a background thread rings, at most a few times a second.
"""

import time

from celery import current_app

from hgmem.periodic import Periodic

TASK_NAME = "memory.analyse_backlog"
DRAFT_TASK = "memory.draft_rewrites"
PAUSE_S = 0.3
ENOUGH_WAITING = 20


def ring(task: str = TASK_NAME) -> None:
    """Wake the worker soon, for one of its tasks. Returns at once and raises nothing."""
    WANTED.add(task)
    BELL.start()
    BELL.wake()


def send(task: str = TASK_NAME) -> None:
    """Put one message into the queue, unless enough lie there unread. Raises what the broker raises."""
    with current_app.connection_for_write() as broker:
        broker.ensure_connection(max_retries=1, timeout=2)
        queue = current_app.conf.task_default_queue
        waiting = broker.default_channel.queue_declare(queue=queue, durable=True, auto_delete=False)
        if waiting.message_count < ENOUGH_WAITING:
            current_app.send_task(task, connection=broker, retry=False, ignore_result=True)


def _send_and_rest() -> None:
    """Everything that is written while it rests is announced by the next message."""
    try:
        for task in sorted(WANTED) or [TASK_NAME]:
            WANTED.discard(task)
            send(task)
    finally:
        time.sleep(PAUSE_S)


WANTED: set[str] = set()
"""The tasks that were rung for since the last message."""

BELL = Periodic("bell", 300.0, _send_and_rest)
