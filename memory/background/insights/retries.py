"""The counter behind "Retries": what repeating a failed tool costs, by day, tool and error pattern."""

from collections.abc import Sequence

from memory.background.insights.cells import save_cells
from memory.domain.insights.contributions import JSON
from memory.domain.insights.retries import NAME, Cost, Key, contribute, fold, read
from memory.models import RetryCell
from memory.writer.tables import Table

__all__ = ["NAME", "apply", "contribute"]

TABLE = Table(RetryCell, ("workspace", "day", "tool", "pattern", *Cost.__struct_fields__))


def apply(workspace_id: int, removed: Sequence[JSON], added: Sequence[JSON]) -> None:
    """Exchange contributions in the cells of their days and tools."""
    out = [row for part in removed for row in read(part)]
    new = [row for part in added for row in read(part)]
    cells = _load(workspace_id, {row.day for row in (*out, *new)}, {row.tool for row in (*out, *new)})
    changed = fold(cells, out, -1) | fold(cells, new, 1)
    rows = [(workspace_id, *key, *(getattr(cells[key], n) for n in TABLE.names[4:])) for key in changed]
    save_cells(TABLE, rows, unique=4)


def _load(workspace_id: int, days: set[str], tools: set[str]) -> dict[Key, Cost]:
    rows = RetryCell.objects.filter(workspace=workspace_id, tool__in=tools, day__in=days)
    found = rows.values_list("day", "tool", "pattern", *Cost.__struct_fields__)
    return {(day.isoformat(), tool, pattern): Cost(*rest) for day, tool, pattern, *rest in found}
