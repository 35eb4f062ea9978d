"""API keys, and who the caller is."""

from typing import ClassVar
from uuid import UUID

from django.db import IntegrityError
from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memory.actions.accounts import create_key, revoke_key
from memory.api.access import actor_of, workspace_of
from memory.api.errors import Conflict
from memory.api.filters import KeyFilter
from memory.api.idempotency import idempotent
from memory.api.resources import RowList, describes, find, read, writes
from memory.api.shapes import CreatedKeySerializer, KeySerializer, MeSerializer, NewKeySerializer
from memory.domain.access import PERMISSIONS, Scope, may
from memory.models import ApiKey
from memory.queries.resources import key_rows
from memory.queries.workspaces import get_workspace


class KeyList(RowList[ApiKey]):
    """The workspace's keys."""

    actions: ClassVar = {"GET": "manage_keys", "POST": "manage_keys"}
    queryset = ApiKey.objects.none()
    serializer_class = KeySerializer
    filterset_class = KeyFilter

    def rows(self) -> QuerySet[ApiKey]:
        """The workspace's keys."""
        return key_rows(workspace_of(self.request))

    @describes("keys", "List keys")
    def get(self, request: Request) -> Response:
        """Newest first, the revoked ones too."""
        return self.listing()

    @writes("keys", "Create a key", {201: CreatedKeySerializer}, request=NewKeySerializer)
    @idempotent
    def post(self, request: Request) -> Response:
        """The secret is in this answer and nowhere else."""
        form = read(NewKeySerializer, request)
        form["scopes"] = [Scope(scope) for scope in dict.fromkeys(form["scopes"])]
        workspace = get_workspace(workspace_of(request))
        try:
            key, secret = create_key(workspace=workspace, by=actor_of(request), **form)
        except IntegrityError as error:
            raise Conflict(f"A key named {form['name']} is in use: revoke it first.") from error
        return Response({**KeySerializer(key).data, "secret": secret}, status=201)


class RevokeKey(APIView):
    """The end of a key."""

    actions: ClassVar = {"POST": "manage_keys"}

    @writes("keys", "Revoke a key", {200: KeySerializer}, request=None)
    @idempotent
    def post(self, request: Request, uuid: UUID) -> Response:
        """It stops working within a second, for good. Revoking twice changes nothing."""
        key = find(key_rows(workspace_of(request)), uuid)
        return Response(KeySerializer(revoke_key(key=key, by=actor_of(request))).data)


class Me(APIView):
    """The caller."""

    actions: ClassVar = {"GET": "see_self"}

    @describes("keys", "Who am I", {200: MeSerializer})
    def get(self, request: Request) -> Response:
        """The key's name, scopes and workspace, and what it may do."""
        actor = actor_of(request)
        body = {
            "name": actor.name,
            "uuid": actor.uuid,
            "scopes": sorted(actor.scopes),
            "may": [action for action in PERMISSIONS if may(actor, action)],
            "workspace": get_workspace(workspace_of(request)),
        }
        return Response(MeSerializer(body).data)
