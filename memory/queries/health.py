"""How the background work is doing."""

from datetime import datetime

import msgspec

from memory.models import Task

MANY = 10_000


class Backlog(msgspec.Struct, frozen=True):
    """Tasks that wait for the worker (counted up to ``MANY``), since when, and those it could not read."""

    waiting: int
    oldest_at: datetime | None
    unreadable: int


def get_backlog(workspace_id: int | None = None) -> Backlog:
    """The backlog of a workspace, or of all."""
    tasks = Task.objects.all() if workspace_id is None else Task.objects.filter(workspace_id=workspace_id)
    waiting = tasks.unanalysed()
    oldest = waiting.order_by("id").values_list("updated_at", flat=True).first()
    unreadable = tasks.exclude(analysis_error="")
    return Backlog(
        waiting=waiting.order_by()[:MANY].count(),
        oldest_at=oldest,
        unreadable=unreadable.order_by()[:MANY].count(),
    )
