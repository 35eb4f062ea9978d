"""Who is asking: the address that counts for login throttling, also behind proxies."""

from django.conf import settings
from django.http import HttpRequest


def client_ip(request: HttpRequest) -> str:
    """The peer's address, or the one that the outermost of our ``HGMEM_TRUSTED_PROXIES`` proxies saw.

    Each proxy appends the address it saw to ``X-Forwarded-For``; what stands further left was written by the
    client and proves nothing.
    """
    peer = str(request.META.get("REMOTE_ADDR", ""))
    count = settings.TRUSTED_PROXIES
    if not count:
        return peer
    seen = [part.strip() for part in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if part.strip()]
    return seen[-count] if len(seen) >= count else peer
