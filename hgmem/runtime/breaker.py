"""A circuit breaker: after a few failures in a row the server is left alone for a while.

The libraries there are (pybreaker, purgatory, aiobreaker) wrap a function, sync or async; here one breaker
guards both roads at once and is asked, not wrapped around. After the cool-down one caller tries; the others
go on without until it has succeeded.
"""

import random
import threading
import time
from collections.abc import Callable
from typing import Final

ENOUGH: Final = 3
FIRST_S: Final = 1.0
LONGEST_S: Final = 60.0


class Breaker:
    """Closed while the server answers. Times are in seconds of ``clock``."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, jitter: Callable[[], float] = random.random
    ) -> None:
        self._clock = clock
        self._jitter = jitter
        self._lock = threading.Lock()
        self._failures = 0
        self._closed_until = 0.0
        self._pause_s = FIRST_S

    @property
    def is_open(self) -> bool:
        """Whether calls are held back just now."""
        return self._failures >= ENOUGH and self._clock() < self._closed_until

    def admits(self) -> bool:
        """Whether this caller may try; in the half-open state only one at a time may."""
        if self._failures < ENOUGH:
            return True
        with self._lock:
            now = self._clock()
            if now < self._closed_until:
                return False
            self._closed_until = now + self._pause_s  # nobody else until this one comes back
            return True

    def succeeded(self) -> None:
        """The server answered, whatever it said."""
        if self._failures:
            with self._lock:
                self._failures = 0
                self._pause_s = FIRST_S

    def failed(self) -> None:
        """No answer, or none in time."""
        with self._lock:
            self._failures += 1
            if self._failures >= ENOUGH:
                self._closed_until = self._clock() + self._pause_s * (1 + self._jitter() * 0.2)
                self._pause_s = min(self._pause_s * 2, LONGEST_S)
