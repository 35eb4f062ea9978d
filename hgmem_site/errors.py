"""What an unknown address answers: JSON to an agent, a page to a person."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.defaults import page_not_found

from memory.api.errors import error_body


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404 in the form the caller can read."""
    if request.path.startswith("/api/"):
        return JsonResponse(error_body("not_found", "There is no such address in this API."), status=404)
    return page_not_found(request, exception)
