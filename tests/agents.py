"""Clients of the library beside the server under test, in the same process and transaction."""

from pathlib import Path
from typing import Any

import httpx
from django.test import Client as Browser

import hgmem

URL = "http://127.0.0.1"


class InProcess(httpx.BaseTransport):
    """Hands requests to Django's test client: no socket, no other connection to the database."""

    def __init__(self) -> None:
        self.browser = Browser(raise_request_exception=False)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The server's answer."""
        headers = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in request.headers.items()}
        answer = self.browser.generic(
            request.method, request.url.raw_path.decode(), request.read(),
            content_type=request.headers.get("content-type", ""), **headers,
        )  # fmt: skip
        return httpx.Response(answer.status_code, headers=dict(answer.items()), content=answer.content)


def make_client(secret: str, home: Path, **settings: Any) -> hgmem.Client:
    """A client that talks to this very process. No background thread runs: call ``refresh`` and ``flush``."""
    return hgmem.Client(URL, secret, home=home, transport=InProcess(), **settings)
