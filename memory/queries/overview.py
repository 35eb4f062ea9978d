"""What the overview shows: days, recent failures."""

from datetime import date

from django.db.models import Sum

from memory.domain.trends import Day
from memory.models import DailyCount, Failure, Task, Workspace


def list_days(workspace: Workspace, *, since: date) -> list[Day]:
    """Calls, failures and repeats of each day with any, oldest first."""
    rows = DailyCount.objects.filter(workspace=workspace, day__gte=since).values("day").order_by("day")
    sums = rows.annotate(calls_sum=Sum("calls"), failures_sum=Sum("failures"), repeats_sum=Sum("repeats"))
    return [Day(row["day"], row["calls_sum"], row["failures_sum"], row["repeats_sum"]) for row in sums]


def list_recent_failures(workspace: Workspace, *, limit: int = 8) -> list[Failure]:
    """The newest failures with their task, call and pattern."""
    rows = Failure.objects.filter(workspace=workspace).select_related("task", "call", "pattern")
    return list(rows.order_by("-happened_at")[:limit])


def has_any_task(workspace: Workspace) -> bool:
    """Whether anything was ever recorded here."""
    return Task.objects.filter(workspace=workspace).exists()
