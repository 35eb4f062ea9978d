"""Bringing people into a workspace."""

import secrets

from django.db import transaction

from memory.actions.accounts import set_member
from memory.domain.access import Actor, Role, check_may
from memory.events import record_event
from memory.models import Member, User, Workspace


class AlreadyMember(ValueError):
    """The person is in the workspace already."""


@transaction.atomic
def add_member(*, workspace: Workspace, username: str, role: Role, by: Actor) -> tuple[Member, str]:
    """Add an existing user, or make one. Returns the member and a one-time password.

    The password is "" for an existing user; a new one's is random, shown once by the caller and kept only
    as a hash. Raises :class:`NotPermitted`, :class:`AlreadyMember`.
    """
    check_may(by, "manage_members", within=workspace.pk)
    user = User.objects.filter(username=username).first()
    password = ""
    if user is None:
        password = secrets.token_urlsafe(15)
        user = User.objects.create_user(username=username, password=password)
        record_event(by=by, workspace=workspace, verb="create_user", subject=user)
    elif Member.objects.filter(workspace=workspace, user=user).exists():
        raise AlreadyMember(f"{username} is a member already. Change the role in the list.")
    set_member(workspace=workspace, user=user, role=role, by=by)
    return Member.objects.get(workspace=workspace, user=user), password
