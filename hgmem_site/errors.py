"""What an unknown address and a failure of ours answer: JSON to an agent, a page to a person."""

import sys

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.views.decorators.csrf import requires_csrf_token
from django.views.defaults import page_not_found

from memory.api.errors import error_body, is_database_away


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404 in the form the caller can read."""
    if request.path.startswith("/api/"):
        return JsonResponse(error_body("not_found", "There is no such address in this API."), status=404)
    return page_not_found(request, exception)


@requires_csrf_token
def server_error(request: HttpRequest) -> HttpResponse:
    """503 while the database is away, else 500, in a form the caller can read. The reason is in the log."""
    if is_database_away(sys.exc_info()[1]):
        code, status, said = "unavailable", 503, "The database does not answer; try again in a moment."
    else:
        code, status, said = "error", 500, "Something broke on our side. The server's log names the reason."
    if request.path.startswith("/api/"):
        answer: HttpResponse = JsonResponse(error_body(code, said), status=status)
    else:
        answer = HttpResponse(render_to_string(f"{status}.html"), status=status)
    if status == 503:
        answer.headers["Retry-After"] = "1"
    return answer
