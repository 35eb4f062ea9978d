"""Views for the hot path: the same rules as everywhere, without REST framework's per-request machinery.

Authentication, the action table, throttles, error shape and the OpenAPI entry are those of every other
view; what is left out is content negotiation, the request wrapper and the serializers.
"""

from typing import Any, ClassVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.exceptions import MethodNotAllowed, Throttled
from rest_framework.views import APIView

from memory.api.access import actor_of
from memory.api.authentication import KeyAuthentication
from memory.api.bodies import check_length, read_json
from memory.api.errors import Unprocessable, answer_exception
from memory.api.rendering import JSONRenderer
from memory.domain.access import check_may

AUTHENTICATION = KeyAuthentication()
RENDERER = JSONRenderer()


class LeanView(APIView):
    """Handlers get Django's request and return JSON-ready data, or a finished ``HttpResponse``."""

    actions: ClassVar[dict[str, str]] = {}
    max_body_bytes: ClassVar[int | None] = None

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Admit, answer, and turn every exception into the one error shape."""
        try:
            action = self.actions.get(request.method or "")
            handler = getattr(self, (request.method or "").lower(), None)
            if action is None or handler is None:
                raise MethodNotAllowed(request.method or "")
            self._admit(request, action)
            answer = handler(request, *args, **kwargs)
        except Exception as error:
            return self._refuse(error)
        return answer if isinstance(answer, HttpResponseBase) else json_response(answer)

    def _admit(self, request: HttpRequest, action: str) -> None:
        found = AUTHENTICATION.authenticate(request)  # it reads META only
        request.auth = found[1] if found else None
        check_may(actor_of(request), action)
        for throttle in self.get_throttles():
            if not throttle.allow_request(request, self):
                raise Throttled(throttle.wait())

    def _refuse(self, error: Exception) -> HttpResponse:
        answer = answer_exception(error, {})
        if answer is None:
            raise error
        response = json_response(answer.data, status=answer.status_code)
        for name, value in answer.headers.items():
            if name.lower() != "content-type":
                response[name] = value
        return response

    def read_json(self, request: HttpRequest) -> dict[str, Any]:
        """The body as a JSON object. Answers 413, 400 or 422 for anything else."""
        check_length(request, self.max_body_bytes or settings.MAX_BODY_BYTES)
        body = read_json(request.body)
        if not isinstance(body, dict):
            raise Unprocessable("The body must be a JSON object.")
        return body


def json_response(data: Any, status: int = 200) -> HttpResponse:
    """``data`` as JSON, the way every other view writes it."""
    return HttpResponse(RENDERER.render(data), status=status, content_type="application/json")
