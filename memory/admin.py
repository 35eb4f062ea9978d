"""The raw tables, read-only: every change goes through an action, there is no second way."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.models import Group
from django.db.models import Model
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from memory.models import (
    ApiKey,
    AuditEvent,
    ErrorPattern,
    Failure,
    ImportJob,
    Member,
    Task,
    Tool,
    ToolCall,
    User,
    Validator,
    Workspace,
)  # fmt: skip


class ReadOnlyAdmin(ModelAdmin):  # type: ignore[misc]  # the shell is untyped
    """Look and search, nothing else. Lists never count large tables."""

    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody adds here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody changes here."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody deletes here."""
        return False


TABLES: list[tuple[type[Model], tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = [
    # model, columns, search, hidden fields
    (User, ("username", "is_active", "is_superuser", "last_login"), ("username",), ("password",)),
    (Workspace, ("name", "slug", "created_at"), ("name", "slug"), ()),
    (Member, ("workspace", "user", "role", "created_at"), ("user__username",), ()),
    (ApiKey, ("name", "prefix", "workspace", "expires_at", "revoked_at"), ("name", "prefix"), ("digest",)),
    (AuditEvent, ("at", "actor_name", "verb", "subject_type", "subject_name"), ("subject_uuid", "verb"), ()),
    (Task, ("external_id", "workspace", "outcome", "call_count", "received_at"), ("external_id",), ()),
    (ToolCall, ("task_id", "seq", "tool", "status", "recorded_at"), ("=tool",), ()),
    (Failure, ("error_type", "source", "repeat", "happened_at"), ("error_type",), ()),
    (ErrorPattern, ("title", "tool", "status", "occurrence_count", "last_seen_at"), ("title", "tool"), ()),
    (Tool, ("name", "workspace", "schema_version", "call_count"), ("name",), ()),
    (Validator, ("name", "tool", "kind", "is_enabled", "revision"), ("name", "tool"), ()),
    (ImportJob, ("file_name", "workspace", "format", "status", "created_at"), ("file_name",), ()),
]

admin.site.unregister(Group)  # roles are memberships of a workspace
for model, columns, search, hidden in TABLES:
    options = {"list_display": columns, "search_fields": search, "exclude": hidden, "ordering": ("-pk",)}
    admin.site.register(model, type(f"{model.__name__}Admin", (ReadOnlyAdmin,), options))
