"""How many requests a key may make: a token bucket in this process, and one for all processes with Redis."""

import logging
import math
import threading
import time
from functools import cache as cache_result
from typing import TYPE_CHECKING, ClassVar

from django.conf import settings
from django.core.cache import cache
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from memory.api.access import actor_of
from memory.domain.access import Actor

if TYPE_CHECKING:  # this module may be named in REST framework's settings
    from rest_framework.views import APIView

PERIODS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "hour": 3600}
MAX_BUCKETS = 50_000
SHARED_PAUSE_S = 5.0
log = logging.getLogger(__name__)


@cache_result
def parse_rate(text: str) -> tuple[float, float]:
    """``"6000/min"`` -> (6000.0, 60.0): requests and the seconds they are for. Raises ValueError."""
    number, _, period = text.partition("/")
    if period not in PERIODS or float(number) <= 0:
        raise ValueError(f"A rate reads like 6000/min (per s, min or hour), not {text!r}.")
    return float(number), float(PERIODS[period])


class Buckets:
    """Token buckets by key: full at first, refilled evenly. Thread-safe."""

    def __init__(self) -> None:
        self._buckets: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def take(self, key: str, size: float, period_s: float, now: float) -> float:
        """Take one token; 0.0, or the seconds until there is one."""
        refill = size / period_s
        with self._lock:
            tokens, then = self._buckets.get(key, (size, now))
            tokens = min(size, tokens + (now - then) * refill)
            if tokens < 1.0:
                self._buckets[key] = (tokens, now)
                return (1.0 - tokens) / refill
            if len(self._buckets) >= MAX_BUCKETS:
                self._buckets.clear()
            self._buckets[key] = (tokens - 1.0, now)
            return 0.0

    def clear(self) -> None:
        """Everybody starts with a full bucket again."""
        with self._lock:
            self._buckets.clear()


BUCKETS = Buckets()


class _BucketThrottle(BaseThrottle):
    def __init__(self) -> None:
        self._wait = 0.0

    def wait(self) -> float:
        """Seconds until the next request may come."""
        return self._wait


class KeyThrottle(_BucketThrottle):
    """``HGMEM_API_RATE`` for each key; 429 with ``Retry-After`` beyond it.

    Embedded, the bucket is this process's own. With Redis all processes also share a count for each window;
    Redis being down costs one short attempt every few seconds, and the own bucket goes on.
    """

    _shared_again_at: ClassVar[float] = 0.0

    def allow_request(self, request: Request, view: "APIView") -> bool:
        """Whether the key has a token left."""
        actor = request.auth
        if not isinstance(actor, Actor):
            return True
        size, period = parse_rate(settings.API_RATE)
        self._wait = BUCKETS.take(actor.uuid, size, period, time.monotonic())
        if not self._wait and settings.REDIS_URL and time.monotonic() >= self._shared_again_at:
            self._wait = self._count_shared(actor.uuid, size, period)
        return not self._wait

    def _count_shared(self, key: str, size: float, period: float) -> float:
        now = time.time()
        window = math.floor(now / period)
        name = f"rate:{key}:{window}"
        try:
            cache.add(name, 0, timeout=period * 2)
            count = cache.incr(name)
        except Exception as error:  # the cache's own errors differ; none of them may stop an agent
            KeyThrottle._shared_again_at = time.monotonic() + SHARED_PAUSE_S
            log.warning("The shared throttle is not counting: %s", error)
            return 0.0
        return (window + 1) * period - now if count > size else 0.0


class QueryThrottle(_BucketThrottle):
    """``HGMEM_QUERY_RATE`` for each key and process: the hot path asks nobody else."""

    def allow_request(self, request: Request, view: "APIView") -> bool:
        """Whether the key has a token left in this process."""
        size, period = parse_rate(settings.QUERY_RATE)
        self._wait = BUCKETS.take(f"query:{actor_of(request).uuid}", size, period, time.monotonic())
        return not self._wait
