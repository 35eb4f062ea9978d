"""Counting calls and failures by the hour."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection, models

from memory.domain.insights.failure_hours import NAME, contribute, differences
from memory.models import PatternHour, ToolHour
from memory.writer.tables import Table

__all__ = ["NAME", "apply", "contribute"]

TOOL_HOURS = Table(ToolHour, ("workspace", "tool", "hour", "calls"))
PATTERN_HOURS = Table(PatternHour, ("workspace", "pattern", "hour", "failures"))
CHUNK = 1_000


def apply(workspace_id: int, removed: Sequence[Any], added: Sequence[Any]) -> None:
    """Take the shares of some tasks away and add others. Call it inside a transaction."""
    calls = differences(removed, added, "calls")
    _make(TOOL_HOURS, workspace_id, calls, "workspace_id, tool, hour")
    _add(ToolHour, "calls", "tool", workspace_id, calls)
    failures = differences(removed, added, "failures")
    _make(PATTERN_HOURS, workspace_id, failures, "pattern_id, hour")
    _add(PatternHour, "failures", "pattern_id", workspace_id, failures)


def _make(table: Table, workspace_id: int, changes: Mapping[tuple[Any, int], int], unique: str) -> None:
    """The rows that are to grow are there, in one order for every worker."""
    keys = sorted(key for key, count in changes.items() if count > 0)
    for start in range(0, len(keys), CHUNK):
        rows = [(workspace_id, who, hour, 0) for who, hour in keys[start : start + CHUNK]]
        table.append_missing(rows, unique=unique)


def _add(
    model: type[models.Model],
    column: str,
    owner: str,
    workspace_id: int,
    changes: Mapping[tuple[Any, int], int],
) -> None:
    """Never below zero: hours that are long past may have been dropped."""
    rows = [
        (count, count, workspace_id, who, hour) for (who, hour), count in sorted(changes.items()) if count
    ]
    if not rows:
        return
    sets = f"{column} = CASE WHEN {column} + %s < 0 THEN 0 ELSE {column} + %s END"
    table = connection.ops.quote_name(model._meta.db_table)
    where = f"workspace_id = %s AND {owner} = %s AND hour = %s"
    with connection.cursor() as cursor:
        cursor.executemany(f"UPDATE {table} SET {sets} WHERE {where}", rows)  # noqa: S608 - names of the model
