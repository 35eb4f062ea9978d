"""Webhooks: what may be told, how it is signed (Standard Webhooks 1.0), when it is tried again. Pure."""

import hashlib
import hmac
import ipaddress
from base64 import b64encode
from typing import Any
from urllib.parse import urlsplit

import msgspec

EVENTS: dict[str, str] = {
    "canary.started": "A rule began its canary",
    "canary.promoted": "A canary ended well: its rule is served to all tasks",
    "canary.rolled_back": "A canary ended badly: its rule is served no more",
    "canary.held": "A canary waits for a person",
    "alert.raised": "Something asks people to look",
    "webhook.test": "Somebody tried the webhook",
}
"""What can be told. A webhook names those it wants; a test goes to any."""
CHOSEN = tuple(name for name in EVENTS if name != "webhook.test")

DELIVERY_STATES = ("waiting", "delivered", "given_up")
WAITS_S = (5, 30, 120, 600, 3_600, 21_600, 86_400)
"""Seconds to wait after the first, second... failed attempt. After the last one it is given up."""
MAX_URL = 500
MAX_BODY_BYTES = 64_000
_PREFIX = "whsec_"
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class InvalidWebhookError(ValueError):
    """An address or a choice that cannot be used; the text says why."""


class ForbiddenAddressError(ValueError):
    """The address leads to a machine that webhooks may not reach."""


def check_url(url: str) -> str:
    """The address in one spelling. Raises :class:`InvalidWebhookError`.

    Where the name leads to is checked when a connection is made: a name may lead elsewhere by then.
    """
    if len(url) > MAX_URL:
        raise InvalidWebhookError(f"The address is longer than {MAX_URL} characters.")
    if not url.isascii() or any(character.isspace() or character < " " for character in url):
        raise InvalidWebhookError("The address holds a character that no address has.")
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError as fault:
        raise InvalidWebhookError(f"This is no address: {fault}.") from fault
    if parts.scheme not in ("http", "https") or not host:
        raise InvalidWebhookError("The address begins with https:// (or http://) and names a host.")
    if parts.username or parts.password:
        raise InvalidWebhookError("The address must not hold a password: the signature says who calls.")
    return parts._replace(fragment="").geturl()


def check_address(address: str) -> None:
    """Raise :class:`ForbiddenAddressError` for an IP address that is not on the public internet.

    Otherwise whoever may write a webhook could reach what only this server can.
    """
    if not _is_public(ipaddress.ip_address(address.partition("%")[0])):
        raise ForbiddenAddressError(
            f"{address} is not on the public internet: webhooks to it are switched off on this server."
        )


def _is_public(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """An IPv6 address that holds one of IPv4 leads to that one: it counts instead."""
    if isinstance(ip, ipaddress.IPv6Address):
        held = ip.ipv4_mapped or ip.sixtofour
        if held is None and ip in _NAT64:
            held = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if held is not None:
            return _is_public(held)
        if ip not in _GLOBAL_UNICAST:
            return False
    return ip.is_global and not ip.is_multicast


def shown_secret(key: bytes) -> str:
    """A key as the receiver's library takes it: ``whsec_`` and base64."""
    return _PREFIX + b64encode(key).decode()


def sign(key: bytes, *, message_id: str, timestamp: int, body: bytes) -> str:
    """The ``webhook-signature`` header: HMAC-SHA256 over ``id.timestamp.body`` (Standard Webhooks 1.0)."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def wait_after(attempt: int) -> int | None:
    """Seconds until the next attempt after the ``attempt``-th (from 1) failed; None: give up."""
    return WAITS_S[attempt - 1] if attempt <= len(WAITS_S) else None


def shorten(message: dict[str, Any]) -> dict[str, Any]:
    """The message, without its ``data`` when that makes it larger than receivers take."""
    if len(msgspec.json.encode(message)) <= MAX_BODY_BYTES:
        return message
    return {**message, "data": {"omitted": "The data is too large for a message: look it up over the API."}}
