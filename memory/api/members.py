"""Members of the workspace."""

from typing import ClassVar
from uuid import UUID

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memory.actions.accounts import LastOwner, set_member
from memory.api.errors import Conflict, Unprocessable
from memory.api.filters import MemberFilter
from memory.api.idempotency import idempotent
from memory.api.resources import RowList, describes, find, read, writes
from memory.api.shapes import MemberSerializer, NewMemberSerializer, RoleSerializer
from memory.domain.access import Role
from memory.models import Member
from memory.queries.resources import find_user, member_rows
from memory.queries.workspaces import get_workspace


class MemberList(RowList[Member]):
    """The people in the workspace."""

    actions: ClassVar = {"GET": "look", "POST": "manage_members"}
    serializer_class = MemberSerializer
    filterset_class = MemberFilter

    def rows(self) -> QuerySet[Member]:
        """The workspace's members."""
        return member_rows(self.request.auth.workspace_id)

    @describes("members", "List members")
    def get(self, request: Request) -> Response:
        """The last to join first."""
        return self.listing()

    @writes("members", "Add a member", {201: MemberSerializer}, request=NewMemberSerializer)
    @idempotent
    def post(self, request: Request) -> Response:
        """Somebody who can sign in already. 409 for somebody who is a member already."""
        form = read(NewMemberSerializer, request)
        user = find_user(form["username"])
        if user is None:
            detail = f"There is no user named {form['username']}."
            raise Unprocessable(detail, [{"field": "username", "detail": detail}])
        if member_rows(request.auth.workspace_id).filter(user=user).exists():
            raise Conflict(f"{user} is a member already. Change the role instead.")
        workspace = get_workspace(request.auth.workspace_id)
        member = set_member(workspace=workspace, user=user, role=Role(form["role"]), by=request.auth)
        return Response(MemberSerializer(member).data, status=201)


class MemberDetail(APIView):
    """One member."""

    actions: ClassVar = {"GET": "look", "PATCH": "manage_members", "DELETE": "manage_members"}

    @describes("members", "Get a member", {200: MemberSerializer})
    def get(self, request: Request, uuid: UUID) -> Response:
        """The member and the role."""
        return Response(MemberSerializer(find(member_rows(request.auth.workspace_id), uuid)).data)

    @writes("members", "Change a member's role", {200: MemberSerializer}, request=RoleSerializer)
    @idempotent
    def patch(self, request: Request, uuid: UUID) -> Response:
        """409 where it would leave the workspace without an owner."""
        role = Role(read(RoleSerializer, request)["role"])
        return Response(MemberSerializer(_set_role(request, uuid, role)).data)

    @writes("members", "Remove a member", {204: None}, request=None)
    @idempotent
    def delete(self, request: Request, uuid: UUID) -> Response:
        """What they did stays in the audit trail. 409 for the last owner."""
        _set_role(request, uuid, None)
        return Response(status=204)


def _set_role(request: Request, uuid: UUID, role: Role | None) -> Member | None:
    member = find(member_rows(request.auth.workspace_id), uuid)
    try:
        return set_member(
            workspace=get_workspace(request.auth.workspace_id), user=member.user, role=role, by=request.auth
        )
    except LastOwner as error:
        raise Conflict(str(error)) from error
