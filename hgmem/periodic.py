"""Work that repeats in a background thread of this process: started late, fork-safe, never in the way."""

import logging
import os
import threading
from collections.abc import Callable

log = logging.getLogger(__name__)


class Periodic:
    """Calls ``work`` every ``interval_s`` seconds in a daemon thread, or earlier when woken.

    ``start()`` costs nothing when the thread runs, so callers on a hot path may call it each time. A forked
    child has no thread and starts its own. An exception in ``work`` is logged (once until it succeeds
    again) and the next turn goes on. ``at_end`` runs in the thread when it stops.
    """

    enabled = True
    """False makes ``start()`` do nothing (tests): ``running`` tells callers to work in line instead."""

    def __init__(
        self, name: str, interval_s: float, work: Callable[[], None], at_end: Callable[[], None] | None = None
    ) -> None:
        self.name = name
        self.interval_s = interval_s
        self.failing = False
        self._work = work
        self._at_end = at_end
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._thread: threading.Thread | None = None
        self._bell = threading.Event()
        self._stopping = False
        self._lock = threading.Lock()

    @property
    def running(self) -> bool:
        """True while this process has the thread."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Start the thread unless it runs already."""
        if self._thread is not None or not Periodic.enabled:
            return
        with self._lock:
            if self._thread is None:
                self._stopping = False
                self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
                self._thread.start()

    def wake(self) -> None:
        """Do the next turn now."""
        self._bell.set()

    def stop(self, timeout_s: float = 5.0) -> None:
        """End the thread after the turn it is in."""
        thread = self._thread
        if thread is None:
            return
        self._stopping = True
        self._bell.set()
        thread.join(timeout_s)
        self._thread = None

    def _run(self) -> None:
        while not self._stopping:
            self._bell.wait(self.interval_s)
            self._bell.clear()
            if not self._stopping:
                self._turn()
        if self._at_end is not None:
            self._at_end()

    def _turn(self) -> None:
        try:
            self._work()
        except Exception:
            if not self.failing:
                log.exception("%s failed; it goes on trying.", self.name)
            self.failing = True
        else:
            self.failing = False
