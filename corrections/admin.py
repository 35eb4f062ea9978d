"""The raw tables of the corrections app, read-only."""

from django.contrib import admin

from corrections.models import Receipt, Rule, RuleVersion
from memory.admin import ReadOnlyAdmin

TABLES = [
    (Rule, ("name", "workspace", "status", "match_count", "updated_at"), ("name",)),
    (
        RuleVersion,
        ("rule", "number", "tool", "action_type", "created_by", "created_at"),
        ("rule__name", "tool"),
    ),
    (Receipt, ("uuid", "tool", "ruleset_version", "was_applied", "issued_at"), ("=uuid",)),
]

for model, columns, search in TABLES:
    options = {"list_display": columns, "search_fields": search, "ordering": ("-pk",)}
    admin.site.register(model, type(f"{model.__name__}Admin", (ReadOnlyAdmin,), options))
