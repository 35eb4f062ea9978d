"""Between Django and the server: an answer that is ready goes out in one piece."""

from collections.abc import Callable, Iterable
from typing import Any

from django.http import HttpResponse

StartResponse = Callable[..., Any]
Application = Callable[[dict[str, Any], StartResponse], Iterable[bytes]]


class WholeAnswers:
    """A WSGI application that turns finished answers into lists; streams stay streams.

    Granian sends a list as it is, but asks any other iterable for chunk after chunk, which costs the
    interpreter's lock each time. The answer is closed here, as the server would have done after sending it.
    """

    def __init__(self, application: Application) -> None:
        self.application = application

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        response = self.application(environ, start_response)
        if not isinstance(response, HttpResponse):  # a stream, or the server's own wrapper of a file
            return response
        try:
            return [response.content]
        finally:
            response.close()
