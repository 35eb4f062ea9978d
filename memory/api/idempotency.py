"""``Idempotency-Key`` for any write of the API: one decorator on the handler."""

import hashlib
from collections.abc import Callable
from functools import wraps
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from memory.actions.answers import Answer, KeyReused, answer_once
from memory.api.access import actor_of
from memory.api.errors import Unprocessable
from memory.api.rendering import plain

MAX_KEY = 200
NEVER_KEPT = frozenset({"secret", "password"})
"""Fields that a kept answer has as null: what is shown once is not stored to be shown again."""

IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="Sending the same request with the same key within 24 hours changes nothing and gets the "
    "same answer. Fields that are shown once (a new secret) are null in the repeated answer.",
)

Handler = Callable[..., Response]


def idempotent(handler: Handler) -> Handler:
    """The handler runs once for each ``Idempotency-Key`` of a caller; a repeat gets the kept answer.

    A repeated answer carries ``Idempotent-Replayed: true``. Another request under the same key: 422.
    """

    @wraps(handler)
    def answer(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = request.headers.get("Idempotency-Key", "")
        if not key:
            return handler(view, request, *args, **kwargs)
        if len(key) > MAX_KEY or not key.isprintable():
            raise Unprocessable(f"An Idempotency-Key has 1 to {MAX_KEY} printable characters.")
        fresh: list[Response] = []

        def produce() -> Answer:
            fresh.append(handler(view, request, *args, **kwargs))
            return Answer(fresh[0].status_code, _kept(plain(fresh[0].data)))

        try:
            kept = answer_once(key=key, digest=_digest(request), by=actor_of(request), produce=produce)
        except KeyReused as error:
            raise Unprocessable(str(error), code="key_reused") from error
        if not kept.is_replay:
            return fresh[0]
        return Response(kept.body, status=kept.status, headers={"Idempotent-Replayed": "true"})

    return answer


def _digest(request: Request) -> str:
    """Of the method, the whole path and the body: what makes it the same request."""
    head = f"{request.method} {request.get_full_path()}\n".encode()
    return hashlib.sha256(head + request.body).hexdigest()


def _kept(body: Any) -> Any:
    if isinstance(body, dict):
        return {name: None if name in NEVER_KEPT else value for name, value in body.items()}
    return body
