"""What the overview shows: days, recent failures, the worker's backlog."""

from dataclasses import dataclass
from datetime import date, datetime

from django.db.models import Sum

from memory.domain.trends import Day
from memory.models import DailyCount, Failure, Task, Workspace

BACKLOG_SHOWN = 1_000


def list_days(workspace: Workspace, *, since: date) -> list[Day]:
    """Calls, failures and repeats of each day with any, oldest first."""
    rows = DailyCount.objects.filter(workspace=workspace, day__gte=since).values("day").order_by("day")
    sums = rows.annotate(calls_sum=Sum("calls"), failures_sum=Sum("failures"), repeats_sum=Sum("repeats"))
    return [Day(row["day"], row["calls_sum"], row["failures_sum"], row["repeats_sum"]) for row in sums]


def list_recent_failures(workspace: Workspace, *, limit: int = 8) -> list[Failure]:
    """The newest failures with their task, call and pattern."""
    rows = Failure.objects.filter(workspace=workspace).select_related("task", "call", "pattern")
    return list(rows.order_by("-happened_at", "-pk")[:limit])


@dataclass(frozen=True)
class Backlog:
    """Tasks the worker has not looked at. ``count`` stops at ``BACKLOG_SHOWN`` + 1: more is "many"."""

    count: int
    oldest_at: datetime | None

    @property
    def is_capped(self) -> bool:
        """Whether there are more than are counted."""
        return self.count > BACKLOG_SHOWN


def get_backlog(workspace: Workspace) -> Backlog:
    """The workspace's share of the worker's queue. Two cheap queries over a partial index."""
    waiting = Task.objects.unanalysed().filter(workspace=workspace).order_by("pk")
    oldest = waiting.values_list("updated_at", flat=True).first()
    return Backlog(waiting[: BACKLOG_SHOWN + 1].count() if oldest else 0, oldest)


def has_any_task(workspace: Workspace) -> bool:
    """Whether anything was ever recorded here."""
    return Task.objects.filter(workspace=workspace).exists()


def list_unreadable(workspace: Workspace, *, limit: int = 20) -> list[Task]:
    """Tasks whose analysis stumbled over something, newest first; the rest of the task was analysed."""
    return list(Task.objects.filter(workspace=workspace).exclude(analysis_error="").order_by("-pk")[:limit])
