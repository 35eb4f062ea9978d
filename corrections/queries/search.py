"""Rules by a word of their name, and by their uuids."""

from uuid import UUID

from corrections.models import Rule


def search_rules(workspace_id: int, text: str, *, limit: int = 10) -> list[Rule]:
    """Rules whose name holds the text, newest first."""
    """Rules whose name or tool holds the text, newest first."""
    rows = Rule.objects.filter(workspace_id=workspace_id, name__icontains=text).exclude(status="deleted")
    return list(rows.select_related("latest_version").order_by("-pk")[:limit])


def rules_by_uuid(workspace_id: int, uuids: list[UUID]) -> dict[UUID, Rule]:
    """The workspace's rules with these uuids that are not deleted."""
    rows = Rule.objects.filter(workspace_id=workspace_id, uuid__in=uuids).exclude(status="deleted")
    return {rule.uuid: rule for rule in rows.select_related("latest_version")}
