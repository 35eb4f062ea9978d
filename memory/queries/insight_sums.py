"""Sums of counted cells by one of their fields: sum_calls, sum_failures and so on."""

from typing import Any, TypeVar

from django.db.models import Sum

from memory.domain.insights.sums import Sums

S = TypeVar("S", bound=Sums)


def summed(cells: Any, by: str, kind: type[Sums]) -> Any:
    """The cells' sums for each value of the field ``by``, as dictionaries; ``kind`` names what is summed."""
    return cells.values(by).annotate(**{f"sum_{name}": Sum(name) for name in kind.__struct_fields__})


def sums_in(row: dict[str, Any], kind: type[S]) -> S:
    """What a row of :func:`summed` holds."""
    return kind(*(row[f"sum_{name}"] for name in kind.__struct_fields__))
