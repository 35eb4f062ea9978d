"""The counter behind "Repeats": calls, failures and repeated failures by day, tool, agent and pattern."""

from collections.abc import Sequence

from memory.background.insights.cells import save_cells
from memory.domain.insights.contributions import JSON
from memory.domain.insights.repeats import NAME, Key, Repeated, Row, contribute, fold, read
from memory.models import RepeatCell
from memory.writer.tables import Table

__all__ = ["NAME", "apply", "contribute"]

TABLE = Table(RepeatCell, ("workspace", "day", "tool", "agent", "pattern", *Repeated.__struct_fields__))


def apply(workspace_id: int, removed: Sequence[JSON], added: Sequence[JSON]) -> None:
    """Exchange contributions in the cells of their days and tools."""
    out = [row for part in removed for row in read(part)]
    new = [row for part in added for row in read(part)]
    cells = _load(workspace_id, [*out, *new])
    changed = fold(cells, out, -1) | fold(cells, new, 1)
    save_cells(TABLE, [(workspace_id, *key, *_values(cells[key])) for key in changed], unique=5)


def _values(seen: Repeated) -> list[int]:
    return [getattr(seen, name) for name in Repeated.__struct_fields__]


def _load(workspace_id: int, lines: Sequence[Row]) -> dict[Key, Repeated]:
    rows = RepeatCell.objects.filter(
        workspace=workspace_id, tool__in={row.tool for row in lines}, day__in={row.day for row in lines}
    )
    found = rows.values_list("day", "tool", "agent", "pattern", *Repeated.__struct_fields__)
    return {
        (day.isoformat(), tool, agent, pattern): Repeated(*rest) for day, tool, agent, pattern, *rest in found
    }
