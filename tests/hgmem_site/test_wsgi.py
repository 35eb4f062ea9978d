"""What the web process says about connections: refused bodies and bodies without a length."""

import socket
from http.client import HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.servers import start_web

BODY = b'{"reason": "' + b"x" * 5_000 + b'"}'


@pytest.mark.django_db(transaction=True)
def test_web__refused_and_chunked_bodies__end_their_connection_and_say_so(tmp_path: Path) -> None:
    with start_web(var=tmp_path) as url:
        refused = ask(url, f"Content-Length: {len(BODY)}", BODY)
        chunked = ask(url, "Transfer-Encoding: chunked", b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY))

    assert refused == (401, "close")
    assert chunked == (411, "close")


def ask(url: str, length: str, body: bytes) -> tuple[int, str | None]:
    """The status, and what the answer says about the connection.

    All in one write: who still writes when the server has answered and closed loses the answer.
    """
    place = urlsplit(url)
    head = f"POST /api/v1/experiences HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Type: application/json\r\n"
    head += f"Authorization: Bearer hgm_nobody\r\n{length}\r\n\r\n"
    with socket.create_connection((place.hostname, place.port), timeout=10) as connection:
        connection.sendall(head.encode() + body)
        answer = HTTPResponse(connection)
        answer.begin()
        answer.read()
        return answer.status, answer.getheader("Connection")
