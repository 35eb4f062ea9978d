"""Who may come in: users, workspaces, members and API keys."""

import uuid
from datetime import datetime
from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower

from memory.domain.access import Role


class User(AbstractUser):
    """A person. What they may do follows from their memberships, never from ``is_staff``."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)


class WorkspaceQuerySet(models.QuerySet["Workspace"]):
    """Filters that read as adjectives."""

    def visible_to(self, user: User) -> "WorkspaceQuerySet":
        """Workspaces the user is a member of."""
        return self.filter(members__user=user)


class Workspace(models.Model):
    """The wall between teams: every row belongs to one workspace."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    settings = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = WorkspaceQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["name", "id"]

    def __str__(self) -> str:
        return self.name


class Member(models.Model):
    """A user's role in a workspace."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=12, choices=[(role.value, role.name.title()) for role in Role])
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "user"], name="member_once_per_workspace"),
        ]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    """Filters that read as adjectives."""

    def usable(self, now: datetime) -> "ApiKeyQuerySet":
        """Neither revoked nor expired."""
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=now), revoked_at=None)


class ApiKey(models.Model):
    """A key of one workspace. Only its digest is kept: the key itself is shown once."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=120)
    prefix = models.CharField(max_length=16, unique=True)
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=150, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                "workspace", Lower("name"), condition=Q(revoked_at=None), name="key_name_live"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"
