"""Members of the workspace."""

from typing import ClassVar
from uuid import UUID

from django.db import IntegrityError
from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memory.actions.accounts import LastOwner, set_member
from memory.actions.members import AlreadyMember, add_member
from memory.api.access import actor_of, workspace_of
from memory.api.errors import Conflict
from memory.api.filters import MemberFilter
from memory.api.idempotency import idempotent
from memory.api.resources import RowList, describes, find, read, writes
from memory.api.shapes import (
    AddedMemberSerializer,
    MemberSerializer,
    NewMemberSerializer,
    RoleSerializer,
)
from memory.domain.access import Role
from memory.models import Member
from memory.queries.resources import member_rows
from memory.queries.workspaces import get_workspace


class MemberList(RowList[Member]):
    """The people in the workspace."""

    actions: ClassVar = {"GET": "look", "POST": "manage_members"}
    queryset = Member.objects.none()
    serializer_class = MemberSerializer
    filterset_class = MemberFilter

    def rows(self) -> QuerySet[Member]:
        """The workspace's members."""
        return member_rows(workspace_of(self.request))

    @describes("members", "List members")
    def get(self, request: Request) -> Response:
        """The last to join first."""
        return self.listing()

    @writes("members", "Add a member", {201: AddedMemberSerializer}, request=NewMemberSerializer)
    @idempotent
    def post(self, request: Request) -> Response:
        """A user by name; a new one gets a password, which is in this answer and nowhere else."""
        form = read(NewMemberSerializer, request)
        workspace = get_workspace(workspace_of(request))
        try:
            member, password = add_member(
                workspace=workspace, username=form["username"], role=Role(form["role"]), by=actor_of(request)
            )
        except (AlreadyMember, IntegrityError) as error:
            raise Conflict(f"{form['username']} is a member already. Change the role instead.") from error
        return Response({**MemberSerializer(member).data, "password": password or None}, status=201)


class MemberDetail(APIView):
    """One member."""

    actions: ClassVar = {"GET": "look", "PATCH": "manage_members", "DELETE": "manage_members"}

    @describes("members", "Get a member", {200: MemberSerializer})
    def get(self, request: Request, uuid: UUID) -> Response:
        """The member and the role."""
        return Response(MemberSerializer(find(member_rows(workspace_of(request)), uuid)).data)

    @writes("members", "Change a member's role", {200: MemberSerializer}, request=RoleSerializer)
    @idempotent
    def patch(self, request: Request, uuid: UUID) -> Response:
        """409 where it would leave the workspace without an owner."""
        member = find(member_rows(workspace_of(request)), uuid)
        role = Role(read(RoleSerializer, request)["role"])
        return Response(MemberSerializer(_set_role(member, role, request)).data)

    @writes("members", "Remove a member", {204: None}, request=None)
    @idempotent
    def delete(self, request: Request, uuid: UUID) -> Response:
        """What they did stays in the audit trail. 409 for the last owner."""
        _set_role(find(member_rows(workspace_of(request)), uuid), None, request)
        return Response(status=204)


def _set_role(member: Member, role: Role | None, request: Request) -> Member | None:
    workspace = get_workspace(workspace_of(request))
    try:
        return set_member(workspace=workspace, user=member.user, role=role, by=actor_of(request))
    except LastOwner as error:
        raise Conflict(str(error)) from error
