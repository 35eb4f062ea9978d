"""What an embeddings endpoint answers, properly and not: turns for a scripted server."""

import json
import time
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.scripted import Turn, send


def vector_of(text: str) -> list[float]:
    """Three numbers that say little about a text, but always the same."""
    return [1.0 + len(text), float(text.count("e")), float(len(text.split()))]


def answer(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    """As the specification says, the vectors in no particular order."""
    data = [{"index": place, "embedding": vector_of(text)} for place, text in enumerate(body["input"])]
    send(handler, 200, json.dumps({"object": "list", "data": data[::-1]}).encode())


def refuse(status: int) -> Turn:
    """An HTTP error that asks to be tried again soon."""
    return lambda handler, _: send(handler, status, b'{"error": {"message": "no"}}', retry_after_ms="10")


def redirect(address: str) -> Turn:
    """HTTP 307 to somewhere else."""
    return lambda handler, _: send(handler, 307, b"", Location=address)


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
