"""Rules that somebody should look at again."""

from django.db.models import QuerySet

from corrections.models import Rule


def list_stale(workspace_id: int) -> QuerySet[Rule]:
    """The workspace's marked rules, newest mark first, with their versions."""
    rows = Rule.objects.filter(workspace_id=workspace_id, stale_since__isnull=False)
    return rows.select_related("latest_version", "live_version").order_by("-stale_since", "-pk")


def count_stale(workspace_id: int) -> int:
    """How many are marked."""
    return Rule.objects.filter(workspace_id=workspace_id, stale_since__isnull=False).count()
