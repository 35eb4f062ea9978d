"""The bodies of requests: never more than allowed, and JSON that can be worked with and stored."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.request import RawPostDataException, RequestDataTooBig
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from memory.api.errors import TooLarge, Unprocessable
from memory.domain.plain_json import MAX_DEPTH, InvalidJSONError, clean_json, decode_json, is_too_deep


def check_length(request: Request | HttpRequest, cap: int) -> None:
    """Answer 413 before anything is read, when the request says that it is longer than ``cap`` bytes."""
    said = str(request.META.get("CONTENT_LENGTH") or 0)
    if said.isdecimal() and int(said) > cap:
        raise _too_large(cap)


def read_body(request: Request) -> bytes:
    """The request's bytes. Answers 413 or 422."""
    check_length(request, settings.MAX_BODY_BYTES)
    try:
        return request._request.body
    except RequestDataTooBig as error:
        raise _too_large(settings.MAX_BODY_BYTES) from error
    except RawPostDataException as error:
        raise Unprocessable("The request must be JSON.") from error


def read_json(body: bytes) -> Any:
    """The body as JSON; 400 where it is none."""
    try:
        return decode_json(body)
    except InvalidJSONError as error:
        raise ParseError(f"The body is {error}.") from error


class JSONParser(BaseParser):
    """JSON for views with serializers. What no database stores is replaced (``memory.domain.plain_json``)."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """The value. Answers 400 for no JSON, 413 for too much, 422 for endless nesting."""
        cap = settings.MAX_BODY_BYTES
        body = stream.read(cap + 1)
        if len(body) > cap:
            raise _too_large(cap)
        value = read_json(clean_json(body))
        if is_too_deep([value]):
            raise Unprocessable(f"Values are nested more than {MAX_DEPTH} levels deep.")
        return value


def _too_large(cap: int) -> TooLarge:
    return TooLarge(f"The request may have up to {cap:,} bytes.")
