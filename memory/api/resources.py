"""What the management views have in common: rows of the key's workspace, filtered and cursor-paged."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet
from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.utils.urls import replace_query_param

from memory.api.errors import Unprocessable
from memory.api.idempotency import IDEMPOTENCY_KEY
from memory.api.structs import ErrorAnswer

REFUSALS = dict.fromkeys((401, 403, 404, 409, 422, 429), ErrorAnswer)
"""What any endpoint may answer instead."""
F = TypeVar("F", bound=Callable[..., Any])
M = TypeVar("M", bound=Model)


class RowList(ListModelMixin, GenericAPIView[M]):
    """A list. Subclasses give ``rows()``, an empty ``queryset`` of their model, and the usual attributes."""

    def rows(self) -> QuerySet[M]:
        """The rows of the key's workspace."""
        raise NotImplementedError

    def get_queryset(self) -> QuerySet[M]:
        """The rows; the class's empty ``queryset`` while the OpenAPI file is made, without a key."""
        return super().get_queryset() if getattr(self, "swagger_fake_view", False) else self.rows()

    def listing(self) -> Response:
        """One page of the filtered rows."""
        return self.list(self.request)


def find(rows: QuerySet[M], uuid: UUID) -> M:
    """The row, or 404: unknown and foreign rows look the same."""
    row = rows.filter(uuid=uuid).first()
    if row is None:
        raise Http404
    return row


def next_address(request: Request, cursor: str) -> str | None:
    """The address of the page that a cursor opens; None at the end."""
    return replace_query_param(request.build_absolute_uri(), "cursor", cursor) if cursor else None


def text_filter(name: str, description: str, enum: Sequence[str] | None = None) -> OpenApiParameter:
    """The OpenAPI entry of a filter that :func:`text_params` reads."""
    return OpenApiParameter(name, OpenApiTypes.STR, description=description, enum=enum)


def read(serializer: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    """The validated body; 422 with field paths."""
    form = serializer(data=request.data)
    form.is_valid(raise_exception=True)
    return dict(form.validated_data)


def text_params(request: Request, *names: str) -> dict[str, str]:
    """Query parameters by name, "" when absent. 422 for a NUL, which no stored text holds."""
    asked = {name: request.query_params.get(name, "") for name in names}
    errors = [
        {"field": name, "detail": "Null characters are not allowed."}
        for name, text in asked.items()
        if "\0" in text
    ]
    if errors:
        raise Unprocessable("The request has fields that are not acceptable.", errors)
    return asked


def describes(
    tag: str, summary: str, responses: Mapping[Any, Any] | None = None, **more: Any
) -> Callable[[F], F]:
    """The OpenAPI entry of a read. Keys of ``responses`` are statuses, or (status, media type).

    Without them it is the view's own list.
    """
    if responses is not None:
        more["responses"] = {**REFUSALS, **responses}
    return extend_schema(tags=[tag], summary=summary, **more)


def writes(tag: str, summary: str, responses: Mapping[Any, Any], **more: Any) -> Callable[[F], F]:
    """The OpenAPI entry of a write that accepts an ``Idempotency-Key``."""
    return describes(tag, summary, responses, parameters=[IDEMPOTENCY_KEY], **more)
