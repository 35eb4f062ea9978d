"""Servers that are not well, on loopback."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Behaviour = Callable[[socket.socket], None]


def hang(_connection: socket.socket) -> None:
    """Take the question and say nothing."""
    time.sleep(5)


def trickle(connection: socket.socket) -> None:
    """Answer a byte at a time: no single wait is long."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    for _ in range(400):
        connection.sendall(b" ")
        time.sleep(0.01)


@contextmanager
def serve(behave: Behaviour | None) -> Iterator[str]:
    """A server that behaves like this; without a behaviour there is none at the address."""
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    if behave is None:
        listener.close()
        yield url
        return
    threading.Thread(target=_accept, args=(listener, behave), daemon=True).start()
    try:
        yield url
    finally:
        listener.close()


def _accept(listener: socket.socket, behave: Behaviour) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_handle, args=(connection, behave), daemon=True).start()


def _handle(connection: socket.socket, behave: Behaviour) -> None:
    with connection:
        try:
            connection.recv(65_536)
            behave(connection)
        except OSError:
            return
