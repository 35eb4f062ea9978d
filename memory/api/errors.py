"""One shape for every error: ``{code, detail, field?, errors?}``."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.response import Response

from memory.domain.access import NotPermitted
from memory.domain.intake import FieldError


class Unprocessable(exceptions.APIException):
    """422: well-formed, but not acceptable. ``errors`` is ``[{"field": ..., "detail": ...}]``."""

    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY
    default_code = "invalid"

    def __init__(
        self, detail: str, errors: list[dict[str, str]] | None = None, code: str = "invalid"
    ) -> None:
        super().__init__(detail, code)
        self.errors = errors or []


def field_rows(errors: Iterable[FieldError]) -> list[dict[str, str]]:
    """Field errors as an answer lists them."""
    return [{"field": error.field, "detail": error.detail} for error in errors]


class Conflict(exceptions.APIException):
    """409: the request contradicts what is stored. ``more`` joins the body: what is stored now."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"

    def __init__(
        self,
        detail: str,
        errors: list[dict[str, str]] | None = None,
        more: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(detail, "conflict")
        self.errors = errors or []
        self.more = dict(more or {})


class TooLarge(exceptions.APIException):
    """413: more than one request may carry."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"


class Unavailable(exceptions.APIException):
    """503: the database cannot be written to right now; sending the same again is safe."""

    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_code = "unavailable"
    wait = 1.0


def is_database_away(error: BaseException | None) -> bool:
    """Whether an exception says that the database cannot be reached or is busy, not that a query is wrong."""
    return isinstance(error, OperationalError | InterfaceError)


def error_body(code: str, detail: str, errors: list[dict[str, str]] | None = None) -> dict[str, Any]:
    """The one error shape. ``field`` repeats the first field for callers that show a single message."""
    body: dict[str, Any] = {"code": code, "detail": detail}
    if errors:
        body["field"] = errors[0].get("field", "")
        body["errors"] = errors
    return body


def flatten_detail(detail: Any, path: str = "") -> list[dict[str, str]]:
    """DRF's nested validation errors as ``[{"field": "a.0.b", "detail": "..."}]``."""
    if isinstance(detail, dict):
        return [
            row
            for name, inner in detail.items()
            for row in flatten_detail(
                inner, path if name == "non_field_errors" else f"{path}.{name}".lstrip(".")
            )
        ]
    if isinstance(detail, list):
        rows: list[dict[str, str]] = []
        for index, inner in enumerate(detail):
            nested = isinstance(inner, dict | list)
            rows += flatten_detail(inner, f"{path}.{index}".lstrip(".") if nested else path)
        return rows
    return [{"field": path, "detail": str(detail)}]


def answer_exception(exc: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler. What is not an API error stays a 500 and is logged."""
    if is_database_away(exc):
        exc = Unavailable("The database does not answer; try again in a moment.")
    elif isinstance(exc, Http404):
        exc = exceptions.NotFound("There is no such thing in this workspace.")
    elif isinstance(exc, NotPermitted):
        exc = exceptions.PermissionDenied(str(exc))
    elif isinstance(exc, PermissionDenied):
        exc = exceptions.PermissionDenied()
    if not isinstance(exc, exceptions.APIException):
        return None
    headers = {}
    if isinstance(exc, exceptions.NotAuthenticated | exceptions.AuthenticationFailed):
        headers["WWW-Authenticate"] = getattr(exc, "auth_header", "Bearer")
    if isinstance(exc, exceptions.Throttled | Unavailable) and exc.wait is not None:
        headers["Retry-After"] = str(max(1, int(exc.wait + 0.999)))
    if isinstance(exc, exceptions.ValidationError):
        rows = flatten_detail(exc.detail)
        body = error_body("invalid", "The request has fields that are not acceptable.", rows)
        return Response(body, status=status.HTTP_422_UNPROCESSABLE_ENTITY)
    codes = exc.get_codes()
    code = codes if isinstance(codes, str) else "error"
    body = error_body(code, str(exc.detail), getattr(exc, "errors", None)) | getattr(exc, "more", {})
    return Response(body, status=exc.status_code, headers=headers)
