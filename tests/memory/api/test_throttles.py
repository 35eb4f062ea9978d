"""Throttles: a bucket in this process, one count for all processes with Redis."""

from collections.abc import Iterator
from typing import Any

import pytest
from rest_framework.test import APIClient

from memory.api.throttles import BUCKETS, Buckets, KeyThrottle
from tests.servers import free_port, start_redis

URL = "/api/v1/experiences"


@pytest.fixture(autouse=True)
def full_buckets() -> Iterator[None]:
    BUCKETS.clear()
    KeyThrottle._shared_again_at = 0.0
    yield
    KeyThrottle._shared_again_at = 0.0


TAKES = [
    pytest.param([0, 0, 0, 0], [0, 0, 0, 1], id="burst-of-the-size"),
    pytest.param([0, 0, 0, 1, 1], [0, 0, 0, 0, 1], id="one-more-after-a-second"),
    pytest.param([0, 100, 100, 100, 100], [0, 0, 0, 0, 1], id="never-more-than-the-size"),
]


@pytest.mark.parametrize(("moments", "waits"), TAKES)
def test_buckets__three_in_three_seconds__wait_for_the_next_token(
    moments: list[int], waits: list[int]
) -> None:
    buckets = Buckets()

    assert [buckets.take("k", 3, 3, float(moment)) for moment in moments] == waits


def use_redis(settings: Any, url: str) -> None:
    settings.REDIS_URL = url
    options = {"socket_connect_timeout": 0.2, "socket_timeout": 0.2}
    backend = "django.core.cache.backends.redis.RedisCache"
    settings.CACHES = {"default": {"BACKEND": backend, "LOCATION": url, "OPTIONS": options}}


@pytest.mark.django_db
@pytest.mark.redis
def test_throttle__with_redis__counts_what_other_processes_took(agent_api: APIClient, settings: Any) -> None:
    settings.API_RATE = "3/hour"
    with start_redis() as url:
        use_redis(settings, url)
        codes = []
        for _ in range(4):
            BUCKETS.clear()  # as if another process answered
            codes.append(agent_api.get(URL).status_code)

    assert codes == [200, 200, 200, 429]


@pytest.mark.django_db
def test_throttle__redis_is_down__the_own_bucket_goes_on(agent_api: APIClient, settings: Any) -> None:
    settings.API_RATE = "2/min"
    use_redis(settings, f"redis://127.0.0.1:{free_port()}/0")

    assert [agent_api.get(URL).status_code for _ in range(3)] == [200, 200, 429]
