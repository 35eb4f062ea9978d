"""The WSGI entry point."""

import os
from collections.abc import Callable, Iterable
from typing import Any

from django.core.wsgi import get_wsgi_application

from hgmem_site.whole_answers import WholeAnswers

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hgmem_site.settings")
django_application = WholeAnswers(get_wsgi_application())

from corrections.live.announcing import start_serving  # noqa: E402 - needs the applications
from memory.live.index import start_warming  # noqa: E402

NO_LENGTH = b'{"code":"length_required","detail":"Send a Content-Length: chunked bodies are not read."}'
NO_LENGTH_HEADERS = [("Content-Type", "application/json"), ("Connection", "close")]
Environ = dict[str, Any]


def application(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Django; a refused request that brought a body also ends its connection, and says so.

    A refusal leaves the body unread, and then the server closes the connection. A caller that is not told
    sends its next request into it and gets no answer.
    """
    if environ.get("CONTENT_LENGTH") in (None, "", "0"):
        if environ.get("HTTP_TRANSFER_ENCODING"):  # Django would take it for a request without a body
            start_response("411 Length Required", NO_LENGTH_HEADERS)
            return [NO_LENGTH]
        return django_application(environ, start_response)

    def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
        if status[0] in "45":
            headers = [*headers, ("Connection", "close")]
        return start_response(status, headers, *rest)

    return django_application(environ, start)


start_serving()
start_warming()
