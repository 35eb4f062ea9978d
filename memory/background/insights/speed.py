"""The counter behind "Speed": calls by day, tool and shape of the parameters."""

from collections.abc import Sequence

from memory.background.insights.cells import save_cells
from memory.domain.insights.contributions import JSON
from memory.domain.insights.speed import NAME, Key, Speed, contribute, fold, read
from memory.models import SpeedCell
from memory.writer.prepare import as_json
from memory.writer.tables import Row, Table

__all__ = ["NAME", "apply", "contribute"]

TABLE = Table(
    SpeedCell, ("workspace", "tool", "day", "shape", "n", "failed", "timed", "ms_sum", "buckets")
)  # fmt: skip


def apply(workspace_id: int, removed: Sequence[JSON], added: Sequence[JSON]) -> None:
    """Exchange contributions in the cells of their days and tools."""
    out = [row for part in removed for row in read(part)]
    new = [row for part in added for row in read(part)]
    cells = _load(workspace_id, {row.day for row in (*out, *new)}, {row.tool for row in (*out, *new)})
    changed = fold(cells, out, -1) | fold(cells, new, 1)
    save_cells(TABLE, [_row(workspace_id, key, cells[key]) for key in changed], unique=4)


def _load(workspace_id: int, days: set[str], tools: set[str]) -> dict[Key, Speed]:
    rows = SpeedCell.objects.filter(workspace=workspace_id, tool__in=tools, day__in=days)
    names = ("day", "tool", "shape", "n", "failed", "timed", "ms_sum", "buckets")
    return {
        (day.isoformat(), tool, shape): Speed(
            n, failed, timed, ms, {int(bucket): count for bucket, count in buckets.items()}
        )
        for day, tool, shape, n, failed, timed, ms, buckets in rows.values_list(*names)
    }


def _row(workspace_id: int, key: Key, speed: Speed) -> Row:
    day, tool, shape = key
    buckets = as_json({str(bucket): count for bucket, count in sorted(speed.buckets.items())})
    return (workspace_id, tool, day, shape, speed.n, speed.failed, speed.timed, speed.ms_sum, buckets)
