"""Members and keys of a workspace."""

from memory.models import ApiKey, Member, Workspace


def list_members(workspace: Workspace) -> list[Member]:
    """Everybody in the workspace, by name."""
    return list(Member.objects.filter(workspace=workspace).select_related("user").order_by("user__username"))


def list_keys(workspace: Workspace, *, limit: int = 500) -> list[ApiKey]:
    """The usable keys first, then the revoked ones, newest first."""
    rows = ApiKey.objects.filter(workspace=workspace)
    live = list(rows.filter(revoked_at=None).order_by("-pk")[:limit])
    return live + list(rows.exclude(revoked_at=None).order_by("-pk")[:50])
