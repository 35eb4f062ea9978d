"""Imports: the list, and what a page says about the progress of one."""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from memory.models import ImportJob

OUTCOMES = ("created", "updated", "unchanged", "conflict", "invalid", "unread")


@dataclass(frozen=True)
class ImportProgress:
    """How far it is, in items and whole percent, and what became of the items so far."""

    done: int
    total: int
    percent: int
    outcomes: list[tuple[str, int]]
    calls_added: int
    calls_per_second: float | None


def list_imports(workspace_id: int) -> QuerySet[ImportJob]:
    """Newest first."""
    return ImportJob.objects.filter(workspace_id=workspace_id).order_by("-id")


def import_progress(job: ImportJob) -> ImportProgress:
    """The numbers of the progress bar and the table below it."""
    result: dict[str, Any] = job.result
    calls = int(result.get("calls_added", 0))
    return ImportProgress(
        done=job.cursor,
        total=job.total,
        percent=round(100 * job.cursor / job.total) if job.total else 0,
        outcomes=[(name, result[name]) for name in OUTCOMES if result.get(name)],
        calls_added=calls,
        calls_per_second=calls / job.seconds if calls and job.seconds > 0 else None,
    )
