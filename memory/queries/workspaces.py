"""Workspaces a person can see."""

from django.db.models import QuerySet

from memory.models import User, Workspace


def list_workspaces(*, user: User) -> list[Workspace]:
    """The workspaces the user is a member of, by name."""
    return list(Workspace.objects.visible_to(user))


def get_workspace(workspace_id: int) -> Workspace:
    """The workspace of an actor or a row."""
    return Workspace.objects.get(pk=workspace_id)


def workspace_rows(workspace_id: int) -> QuerySet[Workspace]:
    """The one workspace as a query, for others to hang figures on."""
    return Workspace.objects.filter(pk=workspace_id)


def find_workspace(slug: str) -> Workspace | None:
    """The workspace of that address, or None. For commands: it asks nobody's leave."""
    return Workspace.objects.filter(slug=slug).first()


def find_user(username: str) -> User | None:
    """The person of that name, or None."""
    return User.objects.filter(username=username).first()


def free_slug(prefix: str, most: int) -> str:
    """``prefix-2``, ``prefix-3``...: the first that no workspace has; blank when ``most`` are taken."""
    taken = set(Workspace.objects.filter(slug__startswith=f"{prefix}-").values_list("slug", flat=True))
    names = (f"{prefix}-{number}" for number in range(2, most + 1))
    return next((name for name in names if name not in taken), "")
