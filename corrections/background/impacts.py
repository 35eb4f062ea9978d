"""A tool that changed opens an impact: what is bound to it waits for somebody to look."""

from django.db import transaction
from django.utils import timezone

from corrections.models import ToolImpact
from corrections.queries.impacts import unseen_changes

BATCH = 200


def open_impacts(limit: int = BATCH) -> int:
    """Open an impact for each schema version that has none; returns how many were new.

    Idempotent: the unique constraint keeps one for a version, whoever else sweeps at the same time.
    """
    total = 0
    while opened := _open_some(limit):
        total += opened
    return total


@transaction.atomic
def _open_some(limit: int) -> int:
    now = timezone.now()
    rows = [
        ToolImpact(
            workspace_id=schema.tool.workspace_id, tool_id=schema.tool_id, opened_at=now,
            from_version=schema.version - 1, to_version=schema.version,
        )
        for schema in unseen_changes()[:limit]
    ]  # fmt: skip
    before = set(_known(rows))
    ToolImpact.objects.bulk_create(rows, ignore_conflicts=True)
    return len(set(_known(rows)) - before)


def _known(rows: list[ToolImpact]) -> list[tuple[int, int]]:
    tools = {row.tool_id for row in rows}
    return list(ToolImpact.objects.filter(tool__in=tools).values_list("tool_id", "to_version"))
