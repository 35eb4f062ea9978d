"""Posting a message to an address that a user gave: bounded in time and size, and only to public machines."""

import socket
from collections.abc import Iterable, Mapping

import httpcore
from django.conf import settings

from memory.domain.webhooks import ForbiddenAddressError, check_address

TIMEOUT_S = 10.0
MAX_ANSWER = 2_000
"""Characters of an answer that are read; nobody needs more to see what went wrong."""


class PostError(Exception):
    """Nobody took the message; the text says what went wrong."""


class CheckedBackend(httpcore.SyncBackend):
    """Connects to the very address that was checked, whatever the name leads to a moment later."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """As the parent, to the first address of the host. Raises ForbiddenAddressError."""
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as fault:
            raise httpcore.ConnectError(f"{host} has no address") from fault
        address = str(found[0][4][0])
        if not settings.WEBHOOK_PRIVATE:
            check_address(address)
        return super().connect_tcp(address, port, timeout, local_address, socket_options)


def post(url: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, str]:
    """The answer's status and the beginning of its text. Redirects are not followed.

    Raises :class:`PostError`.
    """
    wait = dict.fromkeys(("connect", "read", "write", "pool"), TIMEOUT_S)
    try:
        with (
            httpcore.ConnectionPool(network_backend=CheckedBackend()) as pool,
            pool.stream(
                "POST", url, headers=list(headers.items()), content=body, extensions={"timeout": wait}
            ) as answer,
        ):
            return answer.status, _beginning(answer.iter_stream())
    except ForbiddenAddressError as fault:
        raise PostError(str(fault)) from fault
    except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, OSError) as fault:
        raise PostError(f"{type(fault).__name__}: {fault}"[:500]) from fault
    except httpcore.UnsupportedProtocol as fault:
        raise PostError(str(fault)) from fault


def _beginning(parts: Iterable[bytes]) -> str:
    read = b""
    for part in parts:
        read += part
        if len(read) >= MAX_ANSWER:
            break
    return read[:MAX_ANSWER].decode("utf-8", "replace")
