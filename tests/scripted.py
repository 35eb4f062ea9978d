"""A small HTTP endpoint on loopback that answers JSON requests, and misbehaves, as it was told."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Turn = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]
"""What is done with one request: its handler, and its body."""


class ScriptedServer:
    """``script`` is what it does with each request, the last turn again and again; ``asked`` what came.

    ``closing`` closes those who ask, before the server itself ends.
    """

    def __init__(self, url: str, script: list[Turn]) -> None:
        self.url = url
        self.script = script
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.closing = ExitStack()

    def take(self) -> Turn:
        """The next turn."""
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


@contextmanager
def serve_script(*script: Turn) -> Iterator[ScriptedServer]:
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
    scripted = ScriptedServer(f"http://127.0.0.1:{server.server_address[1]}/v1", list(script))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield scripted
    finally:
        scripted.closing.close()
        server.shutdown()
        server.server_close()
        thread.join()


def send(handler: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    """A whole answer. An underscore in a header's name is a hyphen."""
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)
