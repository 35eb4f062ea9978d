"""Which key may call which view: every view names its action, or nobody may call it."""

from typing import TYPE_CHECKING

from django.http import HttpRequest
from rest_framework.exceptions import NotAuthenticated
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from memory.domain.access import Actor, check_may

if TYPE_CHECKING:  # REST framework imports this module while it sets up its views
    from rest_framework.views import APIView


def actor_of(request: Request | HttpRequest) -> Actor:
    """The key that was admitted to this request; NotAuthenticated when none was."""
    actor = getattr(request, "auth", None)
    if not isinstance(actor, Actor):
        raise NotAuthenticated("Send an API key: Authorization: Bearer hgm_...")
    return actor


def workspace_of(request: Request | HttpRequest) -> int:
    """The id of the workspace of the request's key."""
    workspace_id = actor_of(request).workspace_id
    if workspace_id is None:
        raise NotAuthenticated("This key belongs to no workspace.")
    return workspace_id


class HasScope(BasePermission):
    """Reads ``view.actions``: ``{"GET": "look", "POST": "record_experience"}``. Deny by default."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """401 without a key, 403 with the sentence of the table, False for a method without an action."""
        actor = actor_of(request)
        action = getattr(view, "actions", {}).get(request.method)
        if action is None:
            return False
        check_may(actor, action)
        return True
