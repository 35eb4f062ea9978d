"""Members and keys of a workspace."""

from collections.abc import Iterable
from uuid import UUID

from django.utils import timezone

from memory.domain.access import Actor, Role, Scope, may
from memory.models import ApiKey, Member, Workspace


def list_members(workspace: Workspace) -> list[Member]:
    """Everybody in the workspace, by name."""
    return list(Member.objects.filter(workspace=workspace).select_related("user").order_by("user__username"))


def find_member(*, workspace_id: int, user: UUID) -> Member | None:
    """The membership of a user in the workspace, or None."""
    rows = Member.objects.filter(workspace=workspace_id, user__uuid=user).select_related("user")
    return rows.first()


def list_keys(workspace: Workspace, *, limit: int = 500) -> list[ApiKey]:
    """The usable keys first, then the revoked ones, newest first."""
    rows = ApiKey.objects.filter(workspace=workspace)
    live = list(rows.filter(revoked_at=None).order_by("-pk")[:limit])
    return live + list(rows.exclude(revoked_at=None).order_by("-pk")[:50])


def who_still_may(
    action: str, *, workspace_id: int, actors: Iterable[tuple[str, str]]
) -> set[tuple[str, str]]:
    """Which of these actors (kind and uuid) may do ``action`` in the workspace as it is now.

    Members who have left or are less now, and keys that were revoked or have run out, may not; the system
    may always. Two queries at most.
    """
    asked = set(actors)
    users = {uuid for kind, uuid in asked if kind == "user"}
    keys = {uuid for kind, uuid in asked if kind == "key"}
    found: list[Actor] = []
    if users:
        members = Member.objects.filter(workspace=workspace_id, user__uuid__in=users, user__is_active=True)
        for uuid, role in members.values_list("user__uuid", "role"):
            found.append(Actor("user", "", workspace_id, str(uuid), role=Role(role)))
    if keys:
        usable = ApiKey.objects.usable(timezone.now()).filter(workspace=workspace_id, uuid__in=keys)
        for uuid, scopes in usable.values_list("uuid", "scopes"):
            known = frozenset(scope for scope in Scope if scope in scopes)
            found.append(Actor("key", "", workspace_id, str(uuid), scopes=known))
    system = {actor for actor in asked if actor[0] == "system"}
    return system | {(actor.kind, actor.uuid) for actor in found if may(actor, action)}
