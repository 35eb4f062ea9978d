"""Which rules handle an error pattern."""

from corrections.models import Rule


def list_covering_rules(pattern_id: int, *, limit: int = 20) -> list[Rule]:
    """The rules written for a pattern, newest first, whatever their status."""
    rows = Rule.objects.filter(patterns=pattern_id).select_related("latest_version")
    return list(rows.order_by("-pk")[:limit])
