"""Marks on recorded calls that another room sets."""

from collections.abc import Iterable
from datetime import datetime

from memory.models import ToolCall


def mark_receipts_settled(*, call_ids: Iterable[int], at: datetime) -> int:
    """These calls' receipts are dealt with. Housekeeping of the worker, no audit event. Returns how many."""
    return ToolCall.objects.filter(pk__in=list(call_ids), receipt_settled_at=None).update(
        receipt_settled_at=at
    )
