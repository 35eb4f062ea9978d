"""Members and keys of a workspace."""

from uuid import UUID

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
