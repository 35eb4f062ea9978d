"""What the overview shows: days, recent failures."""

from dataclasses import dataclass
from datetime import date, datetime

from django.db.models import Sum

from memory.domain.rewards import KNOWN_RESULTS
from memory.domain.trends import Day
from memory.models import DailyCount, Failure, Localization, Path, PathUse, Task, Workspace

PATHS_COUNTED = 1_000
"""Paths, answers and uses are counted so far; one more says "and more"."""


@dataclass(frozen=True)
class PathNumbers:
    """Each counted up to ``PATHS_COUNTED`` and one, the newest. ``active`` whole paths without templates;
    answers and uses since a moment; ``succeeded`` of the ``ended`` uses.
    """

    active: int
    located: int
    found: int
    nothing: int
    ended: int
    succeeded: int


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


def count_paths_and_uses(workspace: Workspace, *, since: datetime) -> PathNumbers:
    """What path memory did. Three queries, each bounded by its limit, whatever there is."""
    most = PATHS_COUNTED + 1
    paths = Path.objects.active().whole().filter(workspace=workspace).exclude(result="template")
    newest = Localization.objects.filter(workspace=workspace).order_by("-pk")
    answers = [kind for kind, at in newest.values_list("kind", "asked_at")[:most] if at >= since]
    uses = PathUse.objects.filter(workspace=workspace, used_at__gte=since).order_by("-used_at")
    results = [result for result in uses.values_list("result", flat=True)[:most] if result in KNOWN_RESULTS]
    return PathNumbers(
        active=paths.order_by()[:most].count(),
        located=len(answers),
        found=answers.count("found"),
        nothing=answers.count("nothing"),
        ended=len(results),
        succeeded=results.count("success"),
    )
