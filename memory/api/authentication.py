"""API keys: ``Authorization: Bearer hgm_...``, or ``X-API-Key``."""

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from memory.api.keyring import find_key
from memory.domain.access import Actor


class KeyAuthentication(BaseAuthentication):
    """``request.user`` is None; ``request.auth`` is the :class:`Actor` of the key."""

    def authenticate(self, request: Request) -> tuple[None, Actor] | None:
        """None without a key (the view then answers 401); AuthenticationFailed for a bad one."""
        meta = request.META
        header = meta.get("HTTP_AUTHORIZATION", "")
        secret = header[7:].strip() if header[:7].lower() == "bearer " else meta.get("HTTP_X_API_KEY", "")
        if not secret:
            return None
        actor = find_key(secret)
        if actor is None:
            raise AuthenticationFailed("This API key is unknown, expired or revoked.")
        return None, actor

    def authenticate_header(self, request: Request) -> str:
        """What a 401 asks for."""
        return "Bearer"
