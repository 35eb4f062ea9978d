"""The counter behind "fastest in this situation": attempts by way and situation."""

from collections.abc import Iterable, Sequence

from django.db.models import Count

from memory.background.insights.cells import save_cells
from memory.domain.insights.contributions import JSON
from memory.domain.insights.ways import NAME, Cell, Counts, Tries, contribute, fold, places, read
from memory.models import WayCell
from memory.writer.tables import Row, Table

__all__ = ["NAME", "apply", "contribute"]

TABLE = Table(
    WayCell,
    (
        "workspace", "key", "month", "tool", "before", "domain", "tags", "way", "n", "succeeded", "ms_sum",
        "ms_squares", "ms_succeeded",
    ),
)  # fmt: skip
CHUNK = 5_000


def apply(workspace_id: int, removed: Sequence[JSON], added: Sequence[JSON]) -> None:
    """Exchange contributions in the cells of their situations."""
    out, new = [read(part) for part in removed], [read(part) for part in added]
    wanted = {cell for part in (*out, *new) for row in part.rows for cell in places(part, row)}
    cells, counts = _load(workspace_id, wanted), _counts(workspace_id, wanted)
    changed = fold(cells, counts, out, -1) | fold(cells, counts, new, 1)
    save_cells(TABLE, [_row(workspace_id, cell, cells[cell]) for cell in changed], unique=3)


def _load(workspace_id: int, wanted: Iterable[Cell]) -> dict[Cell, Tries]:
    """Those of the wanted cells that there are."""
    by_key = {(cell.month, cell.key): cell for cell in wanted}
    months, keys = {month for month, _key in by_key}, sorted({key for _month, key in by_key})
    found: dict[Cell, Tries] = {}
    for start in range(0, len(keys), CHUNK):
        rows = WayCell.objects.filter(
            workspace=workspace_id, key__in=keys[start : start + CHUNK], month__in=months
        )
        for month, key, *rest in rows.values_list("month", "key", *Tries.__struct_fields__):
            if (cell := by_key.get((month.isoformat(), key))) is not None:
                found[cell] = Tries(*rest)
    return found


def _counts(workspace_id: int, wanted: Iterable[Cell]) -> Counts:
    """The number of cells of the months and tools concerned."""
    rows = WayCell.objects.filter(workspace=workspace_id, tool__in={cell.tool for cell in wanted})
    rows = rows.filter(month__in={cell.month for cell in wanted})
    counted = rows.values_list("month", "tool").annotate(cells=Count("pk"))
    return {(month.isoformat(), tool): count for month, tool, count in counted}


def _row(workspace_id: int, cell: Cell, tries: Tries) -> Row:
    return (
        workspace_id, cell.key, cell.month, cell.tool, cell.before, cell.domain, cell.tags, cell.way, tries.n,
        tries.succeeded, tries.ms_sum, tries.ms_squares, tries.ms_succeeded,
    )  # fmt: skip
