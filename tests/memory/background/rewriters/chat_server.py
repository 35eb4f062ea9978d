"""A small chat endpoint on loopback that answers, and misbehaves, as it was told."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Turn = Callable[[BaseHTTPRequestHandler], None]


class ChatServer:
    """``script`` is what it does with each request, the last turn again and again; ``asked`` what came."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.script: list[Turn] = []
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []

    def take(self) -> Turn:
        """The next turn."""
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


@contextmanager
def serve_chat() -> Iterator[ChatServer]:
    """Runs in threads of this process until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            self.asked = json.loads(self.rfile.read(length))
            scripted.asked.append(self.asked)
            scripted.keys.append(self.headers["Authorization"])
            self.close_connection = True
            with suppress(BrokenPipeError, ConnectionResetError):
                scripted.take()(self)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    scripted = ChatServer(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield scripted
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def send(handler: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    """A whole answer."""
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def says(content: Any, *, finish: str = "stop", usage: dict[str, int] | None = None) -> Turn:
    """A proper completion with this text (JSON for what is no text)."""
    text = content if isinstance(content, str) else json.dumps(content)
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}
    tokens = usage or {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    answer = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": tokens,
    }
    return lambda handler: send(handler, 200, json.dumps(answer).encode())


def by_step(**answers: Any) -> Turn:
    """The answer to whichever step (``nodes``, ``edges``, ``reason``) is asked for."""

    def answer(handler: Any) -> None:
        question = handler.asked["messages"][-1]["content"]
        name = next(name for name in answers if f"new_{name}" in question or f'"{name}"' in question)
        says(answers[name])(handler)

    return answer


def status(code: int, **headers: str) -> Turn:
    """An error answer."""
    return lambda handler: send(handler, code, b'{"error": {"message": "no"}}', **headers)


def raw(body: bytes) -> Turn:
    """200 with whatever this is."""
    return lambda handler: send(handler, 200, body)


def cut_off(handler: BaseHTTPRequestHandler) -> None:
    """Promises more than it sends."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "5000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [{"mess')


def silent(handler: BaseHTTPRequestHandler) -> None:
    """Accepts the request and says nothing for long."""
    time.sleep(3.0)


def dripping(code: int) -> Turn:
    """An answer of one byte now and then: no single read takes long."""

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", "5000")
        handler.end_headers()
        for _ in range(60):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)

    return drip
