"""Cells of the insights in bulk: every tool and shape on every day, as if so many calls had been counted."""

from collections import defaultdict
from datetime import date, timedelta
from typing import Any

from benchmarks.insights_workload import DAYS


def fill_cells(workspace_id: int, factor: float) -> None:
    """Put a cell for each day in the place of those that were counted, with ``factor`` times their calls.

    Cells of ways are capped for each tool and month as they are; only their numbers grow.
    """
    from django.db import connection, transaction
    from django.utils import timezone

    from memory.domain.insights.repeats import Repeated
    from memory.domain.insights.retries import Cost
    from memory.domain.insights.speed import Speed
    from memory.models import RepeatCell, RetryCell, SpeedCell

    today = timezone.now().date()
    days = [today - timedelta(days=back) for back in range(DAYS)]
    with transaction.atomic(), connection.cursor() as cursor:
        _spread(SpeedCell, ("tool", "shape"), Speed.__struct_fields__, workspace_id, days, factor)
        _spread(RetryCell, ("tool", "pattern"), Cost.__struct_fields__, workspace_id, days, factor)
        names = ("tool", "agent", "pattern")
        _spread(RepeatCell, names, Repeated.__struct_fields__, workspace_id, days, factor)
        sums = ", ".join(f"{name} = {name} * {int(factor)}" for name in ("n", "succeeded", "ms_sum"))
        more = ", ".join(f"{name} = {name} * {int(factor)}" for name in ("ms_squares", "ms_succeeded"))
        cursor.execute(f"UPDATE memory_waycell SET {sums}, {more}")


def _spread(
    model: Any, names: tuple[str, ...], values: tuple[str, ...], home: int, days: list[date], factor: float
) -> None:
    """The sums of each key, spread evenly over the days."""
    totals: dict[tuple[Any, ...], dict[str, Any]] = defaultdict(dict)
    for row in model.objects.filter(workspace=home).values(*names, *values):
        total = totals[tuple(row[name] for name in names)]
        for name in values:
            total[name] = _plus(total.get(name), row[name])
    model.objects.filter(workspace=home).delete()
    rows = [
        model(
            workspace_id=home, day=day, **dict(zip(names, key, strict=True)),
            **{name: _times(total[name], factor / len(days)) for name in values},
        )
        for key, total in totals.items()
        for day in days
    ]  # fmt: skip
    model.objects.bulk_create(rows, batch_size=500)


def _plus(one: Any, other: Any) -> Any:
    if isinstance(other, dict):
        return {key: (one or {}).get(key, 0) + other.get(key, 0) for key in {*(one or {}), *other}}
    return other if one is None else one + other


def _times(value: Any, factor: float) -> Any:
    if isinstance(value, dict):
        return {key: max(1, round(count * factor)) for key, count in value.items()}
    return value * factor if isinstance(value, float) else round(value * factor)
