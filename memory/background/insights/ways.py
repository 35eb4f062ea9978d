"""The counter behind "fastest in this situation": attempts by way and situation."""

from collections.abc import Sequence

from memory.background.insights.cells import save_cells
from memory.domain.insights.contributions import JSON
from memory.domain.insights.ways import NAME, Cell, Tries, contribute, fold, read
from memory.models import WayCell
from memory.writer.tables import Table

__all__ = ["NAME", "apply", "contribute"]

TABLE = Table(
    WayCell,
    (
        "workspace", "tool", "month", "key", "before", "domain", "tags", "way", "n", "succeeded", "ms_sum",
        "ms_squares", "ms_succeeded",
    ),
)  # fmt: skip


def apply(workspace_id: int, removed: Sequence[JSON], added: Sequence[JSON]) -> None:
    """Exchange contributions in the cells of their months and tools."""
    rows = [row for part in (*removed, *added) for row in read(part).rows]
    cells = _load(workspace_id, {row.month for row in rows}, {row.tool for row in rows})
    changed = fold(cells, removed, -1) | fold(cells, added, 1)
    save_cells(TABLE, [(workspace_id, *_row(cell, cells[cell])) for cell in changed], unique=4)


def _load(workspace_id: int, months: set[str], tools: set[str]) -> dict[Cell, Tries]:
    rows = WayCell.objects.filter(workspace=workspace_id, tool__in=tools, month__in=months)
    names = ("month", "tool", "before", "domain", "tags", "way", *Tries.__struct_fields__)
    return {Cell(month.isoformat(), *rest[:5]): Tries(*rest[5:]) for month, *rest in rows.values_list(*names)}


def _row(cell: Cell, tries: Tries) -> tuple[object, ...]:
    return (
        cell.tool, cell.month, cell.key, cell.before, cell.domain, cell.tags, cell.way, tries.n,
        tries.succeeded, tries.ms_sum, tries.ms_squares, tries.ms_succeeded,
    )  # fmt: skip
