"""What the web process says about connections: refused bodies and bodies without a length."""

from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.servers import start_web

BODY = b'{"reason": "' + b"x" * 5_000 + b'"}'


@pytest.mark.django_db(transaction=True)
def test_web__refused_and_chunked_bodies__end_their_connection_and_say_so(tmp_path: Path) -> None:
    with start_web(var=tmp_path) as url:
        web = HTTPConnection(urlsplit(url).netloc)
        refused = ask(web, BODY)
        after = ask(web, BODY)
        chunked = ask(web, iter([BODY]))

    assert refused == after == (401, "close")
    assert chunked == (411, "close")


def ask(web: HTTPConnection, body: object) -> tuple[int, str | None]:
    """The status, and what the answer says about the connection; it opens again by itself."""
    headers = {"Content-Type": "application/json", "Authorization": "Bearer hgm_nobody"}
    web.request("POST", "/api/v1/experiences", body, headers, encode_chunked=not isinstance(body, bytes))
    answer = web.getresponse()
    answer.read()
    return answer.status, answer.getheader("Connection")
