"""The address that counts for throttling cannot be made up."""

from typing import Any

import pytest
from django.test import RequestFactory

from hgmem_site.client_ip import client_ip


@pytest.mark.parametrize(
    ("proxies", "forwarded", "expected"),
    [
        pytest.param(0, "", "10.0.0.1", id="no-proxy"),
        pytest.param(0, "6.6.6.6", "10.0.0.1", id="no-proxy-and-a-made-up-header"),
        pytest.param(1, "1.2.3.4", "1.2.3.4", id="one-proxy"),
        pytest.param(1, "6.6.6.6, 1.2.3.4", "1.2.3.4", id="one-proxy-and-a-made-up-header"),
        pytest.param(2, "6.6.6.6, 1.2.3.4, 10.0.0.9", "1.2.3.4", id="two-proxies"),
        pytest.param(2, "1.2.3.4", "10.0.0.1", id="fewer-than-said"),
    ],
)
def test_client_ip__proxies_and_headers__is_what_our_proxy_saw(
    settings: Any, proxies: int, forwarded: str, expected: str
) -> None:
    settings.TRUSTED_PROXIES = proxies
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}

    request = RequestFactory().get("/", REMOTE_ADDR="10.0.0.1", headers=headers)

    assert client_ip(request) == expected
