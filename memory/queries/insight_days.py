"""Which days the insights know."""

from datetime import date

from memory.domain.insights.speed import ALL
from memory.models import SpeedCell


def newest_day(workspace_id: int) -> date | None:
    """The newest day with a counted call; None before the first. One query."""
    rows = SpeedCell.objects.filter(workspace=workspace_id, shape=ALL, n__gt=0)
    return rows.order_by("-day").values_list("day", flat=True).first()
