"""A small embeddings endpoint on loopback that answers, and misbehaves, as it was told."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Turn = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


class EmbeddingsServer:
    """``script`` is what it does with each request, the last turn again and again; ``asked`` what came.

    ``closing`` closes those who ask, before the server itself ends.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.script: list[Turn] = [answer]
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.closing = ExitStack()

    def take(self) -> Turn:
        """The next turn."""
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


@contextmanager
def serve_embeddings() -> Iterator[EmbeddingsServer]:
    """Runs in threads of this process until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            scripted.asked.append(body)
            scripted.keys.append(self.headers["Authorization"])
            self.close_connection = True
            with suppress(BrokenPipeError, ConnectionResetError):
                scripted.take()(self, body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    scripted = EmbeddingsServer(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield scripted
    finally:
        scripted.closing.close()
        server.shutdown()
        server.server_close()
        thread.join()


def vector_of(text: str) -> list[float]:
    """Three numbers that say little about a text, but always the same."""
    return [1.0 + len(text), float(text.count("e")), float(len(text.split()))]


def answer(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    """As the specification says, the vectors in no particular order."""
    data = [{"index": place, "embedding": vector_of(text)} for place, text in enumerate(body["input"])]
    send(handler, 200, json.dumps({"object": "list", "data": data[::-1]}).encode())


def refuse(status: int) -> Turn:
    """An HTTP error that asks to be tried again soon."""
    return lambda handler, _: send(handler, status, b'{"error": {"message": "no"}}', {"retry-after-ms": "10"})


def redirect(address: str) -> Turn:
    """HTTP 307 to somewhere else."""
    return lambda handler, _: send(handler, 307, b"", {"Location": address})


def say(document: object) -> Turn:
    """HTTP 200 with this JSON."""
    return lambda handler, _: send(handler, 200, json.dumps(document).encode())


def babble(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
    """HTTP 200 with something that is not JSON."""
    send(handler, 200, b"<html>bad gateway</html>")


def hang(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
    """Nothing, for longer than anybody waits."""
    time.sleep(1.0)


def pour(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
    """HTTP 200 with more than anybody wants to read."""
    send(handler, 200, b" " * 5_000_000)


def trickle(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
    """HTTP 200 with a byte now and then, so that no single read takes long."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.end_headers()
    for _second in range(10):
        handler.wfile.write(b" ")
        time.sleep(0.1)


def send(
    handler: BaseHTTPRequestHandler, status: int, body: bytes, headers: dict[str, str] | None = None
) -> None:
    """One whole answer."""
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    for name, value in (headers or {}).items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)
