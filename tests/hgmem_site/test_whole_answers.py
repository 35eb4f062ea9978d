"""What goes from Django to the server."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from django.core.signals import request_finished
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from hgmem_site.whole_answers import WholeAnswers

pytestmark = pytest.mark.django_db  # closing an answer looks after the connections


def serving(response: HttpResponseBase) -> WholeAnswers:
    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response("200 OK", [])
        return response

    return WholeAnswers(application)


def start(status: str, headers: list[tuple[str, str]]) -> None:
    """Accept the head."""


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param("é".encode(), id="bytes"),
        pytest.param([b"a", b"b"], id="parts"),
    ],
)
def test_whole_answers__answer_that_is_ready__is_one_piece_and_closed(body: Any) -> None:
    response = HttpResponse(body)

    answer = serving(response)({}, start)

    assert answer == [body if isinstance(body, bytes) else b"ab"]
    assert response.closed


def test_whole_answers__stream__stays_a_stream_that_the_server_closes() -> None:
    response = StreamingHttpResponse(iter([b"a", b"b"]))

    answer = serving(response)({}, start)

    assert not response.closed
    assert list(answer) == [b"a", b"b"]


def test_whole_answers__every_answer__ends_its_request_once() -> None:
    ended = []

    def end(sender: object, **kwargs: object) -> None:
        ended.append(sender)

    request_finished.connect(end)
    try:
        serving(HttpResponse(b"x"))({}, start)
    finally:
        request_finished.disconnect(end)

    assert len(ended) == 1
