"""What webhooks may be, and how messages to them are signed."""

import json
import time

import pytest
from standardwebhooks.webhooks import Webhook as Receiver

from memory.domain.webhooks import (
    MAX_BODY_BYTES,
    WAITS_S,
    ForbiddenAddressError,
    InvalidWebhookError,
    check_address,
    check_url,
    shorten,
    shown_secret,
    sign,
    wait_after,
)

KEY = bytes(range(32))


def test_sign__library_of_the_standard__takes_it() -> None:
    body, now = json.dumps({"type": "canary.rolled_back"}).encode(), int(time.time())

    signature = sign(KEY, message_id="m-1", timestamp=now, body=body)

    headers = {"webhook-id": "m-1", "webhook-timestamp": str(now), "webhook-signature": signature}
    assert Receiver(shown_secret(KEY)).verify(body, headers) == {"type": "canary.rolled_back"}


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("", id="empty"),
        pytest.param("example.org/hook", id="no-scheme"),
        pytest.param("ftp://example.org/", id="other-scheme"),
        pytest.param("file:///etc/passwd", id="file"),
        pytest.param("https://", id="no-host"),
        pytest.param("https://user:secret@example.org/", id="password"),
        pytest.param("https://example.org:99999/", id="port"),
        pytest.param("https://[::1", id="broken-ipv6"),
        pytest.param("https://example.org/\r\nX: y", id="line-end"),
        pytest.param("https://exämple.org/", id="not-ascii"),
        pytest.param("https://example.org/" + "a" * 500, id="long"),
    ],
)
def test_check_url__not_usable__is_refused(url: str) -> None:
    with pytest.raises(InvalidWebhookError):
        check_url(url)


def test_check_url__with_a_fragment__loses_it() -> None:
    assert check_url("https://example.org/hook?a=1#top") == "https://example.org/hook?a=1"


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.0.0.8", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1", "224.0.0.1", "::1",
     "fe80::1%eth0", "fd00::1", "fec0::1", "::ffff:127.0.0.1", "::127.0.0.1", "2002:7f00:1::1",
     "64:ff9b::a00:8", "64:ff9b::a9fe:a9fe"],
)  # fmt: skip
def test_check_address__not_public__is_refused(address: str) -> None:
    with pytest.raises(ForbiddenAddressError):
        check_address(address)


@pytest.mark.parametrize(
    "address",
    ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "64:ff9b::5db8:d70e", "::ffff:93.184.215.14"],
)
def test_check_address__public__passes(address: str) -> None:
    check_address(address)


def test_wait_after__every_attempt__waits_longer_and_ends() -> None:
    waits = [wait_after(attempt) for attempt in range(1, len(WAITS_S) + 2)]

    assert waits == [*sorted(WAITS_S), None]


def test_shorten__too_large__loses_its_data_only() -> None:
    message = {"type": "alert.raised", "data": {"text": "x" * MAX_BODY_BYTES}}

    assert shorten(message)["type"] == "alert.raised"
    assert "omitted" in shorten(message)["data"]
