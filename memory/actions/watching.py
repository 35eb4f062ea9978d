"""Watching tasks from another room: which ones, and what was heard of them. Housekeeping, no audit events."""

from collections.abc import Iterable

from django.db import connection, transaction

from memory.background.watching import note_news
from memory.models import TaskWatch
from memory.queries.units import Unit


def watch_tasks(*, units: Iterable[Unit]) -> None:
    """Watch these from the next analysis on, even one that begins before this transaction is over.

    Commit it before looking at the tasks: then whatever a look did not see yet will be news.
    """
    rows = [TaskWatch(workspace_id=workspace_id, unit=unit) for workspace_id, unit in sorted(set(units))]
    TaskWatch.objects.bulk_create(rows, ignore_conflicts=True)


def take_news(*, limit: int) -> list[Unit]:
    """Watched names with news, which is then taken away; act on it in the same transaction.

    Another worker's are skipped.
    """
    rows = TaskWatch.objects.filter(has_news=True).order_by("pk")
    if connection.features.has_select_for_update_skip_locked:
        rows = rows.select_for_update(skip_locked=True)
    found = list(rows.values_list("pk", "workspace_id", "unit")[:limit])
    TaskWatch.objects.filter(pk__in=[pk for pk, _workspace, _unit in found]).update(has_news=False)
    return [(workspace_id, unit) for _pk, workspace_id, unit in found]


@transaction.atomic
def tell_watchers(*, task_ids: Iterable[int]) -> None:
    """Something is known of these tasks that is not in them: whoever watches should look again."""
    note_news(task_ids)
