"""What a load balancer asks: a word and no details, because they are public; members have the Health page."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from memory.queries.checks import health_checks


@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers. Asks nobody else, so that a database in trouble does not restart every replica."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    """``ready``, or ``degraded`` while broker or worker is away: agents are served all the same. Else 503."""
    states = {check.name: check.state for check in health_checks()}
    if states["database"] == "down":
        return JsonResponse({"status": "unavailable"}, status=503)
    is_degraded = any(state != "ok" for state in states.values())
    return JsonResponse({"status": "degraded" if is_degraded else "ready"})
