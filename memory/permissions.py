"""From a request's user or key to an :class:`Actor`, and the checks that actions make."""

from memory.domain.access import Actor, NotPermitted, Role, Scope, check_may, may
from memory.models import ApiKey, Member, User, Workspace

__all__ = ["SYSTEM", "Actor", "NotPermitted", "check_may", "key_actor", "may", "member_actor", "system_actor"]

SYSTEM = Actor(kind="system", name="HGMem")


def system_actor(name: str) -> Actor:
    """The system acting under a name people recognise (a command, the clock)."""
    return Actor(kind="system", name=name)


def member_actor(user: User, workspace: Workspace) -> Actor | None:
    """The user as a member of the workspace, or None for an outsider."""
    member = Member.objects.filter(user=user, workspace=workspace).first()
    if member is None or not user.is_active:
        return None
    return Actor(
        kind="user",
        name=user.get_username(),
        workspace_id=workspace.pk,
        uuid=str(user.uuid),
        role=Role(member.role),
    )


def key_actor(key: ApiKey) -> Actor:
    """The key as an actor. Scopes that no longer exist are dropped."""
    known = {scope.value for scope in Scope}
    scopes = frozenset(Scope(scope) for scope in key.scopes if scope in known)
    return Actor(kind="key", name=key.name, workspace_id=key.workspace_id, uuid=str(key.uuid), scopes=scopes)
