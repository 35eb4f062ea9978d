"""Rules by a word of their name."""

from corrections.models import Rule


def search_rules(workspace_id: int, text: str, *, limit: int = 10) -> list[Rule]:
    """Rules whose name or tool holds the text, newest first."""
    rows = Rule.objects.filter(workspace_id=workspace_id, name__icontains=text).exclude(status="deleted")
    return list(rows.select_related("latest_version").order_by("-pk")[:limit])
