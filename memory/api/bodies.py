"""The bodies of requests: never more than allowed, and JSON that can be worked with and stored."""

import zlib
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.request import RawPostDataException, RequestDataTooBig
from rest_framework.exceptions import ParseError, UnsupportedMediaType
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


def read_unpacked(request: HttpRequest, cap: int) -> bytes:
    """The body, unpacked where it says that it is gzip. Answers 413 for more than ``cap`` bytes either way.

    400 for what is no gzip, 415 for another encoding.
    """
    check_length(request, cap)
    encoding = request.META.get("HTTP_CONTENT_ENCODING", "identity").strip().lower()
    try:
        body = request.body
    except RequestDataTooBig as error:
        raise _too_large(cap) from error
    if encoding not in ("identity", "", "gzip"):
        raise UnsupportedMediaType(encoding, "The body may be packed with gzip, or not at all.")
    plain = _gunzip(body, cap) if encoding == "gzip" else body
    if len(plain) > cap:
        raise _too_large(cap)
    return plain


def _gunzip(body: bytes, cap: int) -> bytes:
    """At most one byte more than ``cap``, however much the archive holds."""
    unpacking = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        plain = unpacking.decompress(body, cap + 1)
    except zlib.error as error:
        raise ParseError("The body is not gzip, as its Content-Encoding says.") from error
    if len(plain) <= cap and (not unpacking.eof or unpacking.unused_data):
        raise ParseError("The packed body ends early, or more follows it.")
    return plain


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
