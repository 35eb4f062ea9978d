"""What a chat endpoint answers, properly and not: turns for a scripted server."""

import json
import time
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.scripted import Turn, send


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
    return lambda handler, _: send(handler, 200, json.dumps(answer).encode())


def by_step(**answers: Any) -> Turn:
    """The answer to whichever step (``nodes``, ``edges``, ``reason``) is asked for."""

    def answer(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        question = body["messages"][-1]["content"]
        name = next(name for name in answers if f"new_{name}" in question or f'"{name}"' in question)
        says(answers[name])(handler, body)

    return answer


def status(code: int, **headers: str) -> Turn:
    """An error answer."""
    return lambda handler, _: send(handler, code, b'{"error": {"message": "no"}}', **headers)


def raw(body: bytes) -> Turn:
    """200 with whatever this is."""
    return lambda handler, _: send(handler, 200, body)


def cut_off(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
    """Promises more than it sends."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "5000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [{"mess')


def silent(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
    """Accepts the request and says nothing for long."""
    time.sleep(3.0)


def dripping(code: int) -> Turn:
    """An answer of one byte now and then: no single read takes long."""

    def drip(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
        handler.send_response(code)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", "5000")
        handler.end_headers()
        for _ in range(60):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)

    return drip
