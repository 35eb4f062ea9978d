"""The bell between processes: a change is announced on Redis when there is one.

The stamps in the database are the truth and every process polls them; Redis only makes it sooner. So a
lost message or a dead Redis costs a fraction of a second and nothing else.
"""

import gc
import logging
import sys
import threading
from typing import Any

import redis
from django.conf import settings

from corrections.live.rulesets import RULESETS

log = logging.getLogger(__name__)
CHANNEL = "hgmem:rulesets"
TIMEOUT_S = 0.3
RETRY_S = 1.0
SWITCH_S = 0.001
GC_YOUNG = 2_000
"""New containers before Python looks for cycles (its own default: 700). A batch of experience makes thousands
that reference counting frees; looking through them, and through Django itself, was a tenth of the time. Not
more: the cycles of a few hundred requests freed at once (20,000) made every hundredth answer wait 6 ms."""


def start_serving() -> None:
    """What a web process does when it starts: rules in memory, an ear on the channel, few interruptions.

    A request must not wait Python's usual 5 ms for a thread that compiles or flushes.
    """
    sys.setswitchinterval(SWITCH_S)
    RULESETS.start()
    LISTENER.start()
    gc.set_threshold(GC_YOUNG, 10, 10)
    gc.collect()
    gc.freeze()  # what is loaded now stays: no collection visits it again


def announce_change(workspace_id: int) -> None:
    """Wake this process's poller, and the other processes' through Redis. Never raises, never waits long."""
    RULESETS.poller.wake()
    if not settings.REDIS_URL:
        return
    try:
        with _connect() as connection:
            connection.publish(CHANNEL, str(workspace_id))
    except redis.RedisError as error:
        log.warning("A ruleset change could not be announced on Redis (%s): polling will find it.", error)


def _connect(**options: Any) -> redis.Redis:
    limits: dict[str, Any] = {"socket_connect_timeout": TIMEOUT_S, "socket_timeout": TIMEOUT_S}
    return redis.Redis.from_url(settings.REDIS_URL, **(limits | options))


class Listener:
    """A daemon thread that wakes the poller for each message on the channel.

    A child forked later has no such thread; it finds changes by polling.
    """

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()

    def start(self) -> None:
        """Start listening once in this process; nothing without Redis."""
        if self._thread is None and settings.REDIS_URL:
            self._thread = threading.Thread(target=self._run, name="ruleset-listener", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Do not come back when the connection ends."""
        self._stopping.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._listen()
            except redis.RedisError:
                self._stopping.wait(RETRY_S)

    def _listen(self) -> None:
        with _connect(socket_timeout=None) as connection, connection.pubsub() as channel:
            channel.subscribe(CHANNEL)
            for message in channel.listen():
                if message["type"] == "message":
                    RULESETS.poller.wake()


LISTENER = Listener()
