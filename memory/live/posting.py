"""Posting a message to an address that a user gave: bounded in time and size, and only to public machines."""

import socket
import ssl
import time
from collections.abc import Iterable, Mapping
from typing import Any

import httpcore
from django.conf import settings

from memory.domain.webhooks import ForbiddenAddressError, check_address

TIMEOUT_S = 10.0
"""For each step."""
TOTAL_S = 20.0
"""For all of it: well within the lease on the message."""
MAX_ANSWER = 2_000
"""Characters of an answer that are read; nobody needs more to see what went wrong."""


class PostError(Exception):
    """Nobody took the message; the text says what went wrong."""


class BoundedStream(httpcore.NetworkStream):
    """A stream that ends at a moment, however slowly the other side sends or takes bytes."""

    def __init__(self, stream: httpcore.NetworkStream, until: float) -> None:
        self._stream = stream
        self._until = until

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """As the stream's. Raises ``httpcore.ReadTimeout`` also when the whole time is over."""
        return self._stream.read(max_bytes, self._left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """As the stream's. Raises ``httpcore.WriteTimeout`` also when the whole time is over."""
        self._stream.write(buffer, self._left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        """As the stream's."""
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """As the stream's. Raises ``httpcore.ConnectTimeout`` also when the whole time is over."""
        left = self._left(timeout, httpcore.ConnectTimeout)
        return BoundedStream(self._stream.start_tls(ssl_context, server_hostname, left), self._until)

    def get_extra_info(self, info: str) -> Any:
        """As the stream's."""
        return self._stream.get_extra_info(info)

    def _left(self, timeout: float | None, fault: type[httpcore.TimeoutException]) -> float:
        left = self._until - time.monotonic()
        if left <= 0:
            raise fault(f"it took longer than {TOTAL_S:.0f} seconds")
        return left if timeout is None else min(timeout, left)


class CheckedBackend(httpcore.SyncBackend):
    """Connects to the very address that was checked, whatever the name leads to a moment later."""

    def __init__(self) -> None:
        self._until = time.monotonic() + TOTAL_S

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
        except (OSError, UnicodeError) as fault:  # the latter for what cannot be a name at all
            raise httpcore.ConnectError(f"{host} has no address") from fault
        address = str(found[0][4][0])
        if not settings.WEBHOOK_PRIVATE:
            check_address(address)
        stream = super().connect_tcp(address, port, timeout, local_address, socket_options)
        return BoundedStream(stream, self._until)


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
