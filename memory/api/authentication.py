"""API keys: ``Authorization: Bearer hgm_...``, or ``X-API-Key``."""

from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from memory.api.keyring import find_key
from memory.domain.access import Actor


def secret_of(request: Request | HttpRequest) -> str:
    """The key that came with a request, admitted or not; empty without one."""
    header: str = request.META.get("HTTP_AUTHORIZATION", "")
    given = header[7:].strip() if header[:7].lower() == "bearer " else request.META.get("HTTP_X_API_KEY", "")
    return str(given)


class KeyAuthentication(BaseAuthentication):
    """``request.user`` is None; ``request.auth`` is the :class:`Actor` of the key."""

    def authenticate(self, request: Request) -> tuple[None, Actor] | None:
        """None without a key (the view then answers 401); AuthenticationFailed for a bad one."""
        secret = secret_of(request)
        if not secret:
            return None
        actor = find_key(secret)
        if actor is None:
            raise AuthenticationFailed("This API key is unknown, expired or revoked.")
        return None, actor

    def authenticate_header(self, request: Request) -> str:
        """What a 401 asks for."""
        return "Bearer"
