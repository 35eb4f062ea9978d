"""Members: who they are, bringing one in, roles, leaving."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from memory.actions.accounts import LastOwner, set_member
from memory.actions.members import AlreadyMember, add_member
from memory.domain.access import Role
from memory.models import Member
from memory.permissions import may
from memory.queries.members import list_members
from memory.web.access import PageRequest, workspace_page
from memory.web.forms import ROLES, MemberForm, RoleForm


@require_GET
@workspace_page("look")
def members(request: PageRequest) -> HttpResponse:
    """Who is in the workspace."""
    return _page(request, MemberForm())


def _page(request: PageRequest, form: MemberForm, new: tuple[str, str] | None = None) -> HttpResponse:
    """The list with the form for owners; ``new`` is (user name, one-time password), shown once."""
    context: dict[str, Any] = {"title": _("Members"), "roles": ROLES}
    context |= {"members": list_members(request.workspace)}
    context |= {"form": form if may(request.actor, "manage_members") else None, "new": new}
    return render(request, "members/list.html", context)


@never_cache
@require_POST
@workspace_page("manage_members")
def add(request: PageRequest) -> HttpResponse:
    """Bring somebody in."""
    form = MemberForm(request.POST)
    if not form.is_valid():
        return _page(request, form)
    given = form.cleaned_data
    try:
        member, password = add_member(
            workspace=request.workspace,
            username=given["username"],
            role=Role(given["role"]),
            by=request.actor,
        )
    except AlreadyMember as refusal:
        form.add_error("username", str(refusal))
        return _page(request, form)
    return _page(request, MemberForm(), (member.user.get_username(), password))


@require_POST
@workspace_page("manage_members")
def change(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Another role."""
    form = RoleForm(request.POST)
    role = Role(form.cleaned_data["role"]) if form.is_valid() else None
    if role is None:
        messages.error(request, _("Choose one of the roles."))
        return redirect("members", request.workspace.slug)
    return _set_role(request, uuid, role)


@require_POST
@workspace_page("manage_members")
def remove(request: PageRequest, uuid: UUID) -> HttpResponse:
    """Out of the workspace; the account and what the person did stay."""
    return _set_role(request, uuid, None)


def _set_role(request: PageRequest, uuid: UUID, role: Role | None) -> HttpResponse:
    member = get_object_or_404(Member.objects.select_related("user"), workspace=request.workspace, uuid=uuid)
    is_self = member.user_id == request.user.pk
    try:
        set_member(workspace=request.workspace, user=member.user, role=role, by=request.actor)
        done = _("%(name)s is out.") if role is None else _("%(name)s has the role %(role)s now.")
        messages.success(request, done % {"name": member.user, "role": role})
    except LastOwner as refusal:
        messages.error(request, str(refusal))
        is_self = False
    return redirect("home") if is_self and role is None else redirect("members", request.workspace.slug)
