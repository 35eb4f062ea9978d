"""Recorded calls that carry a receipt."""

from typing import Any, NamedTuple

from django.db import connection

from memory.models import ToolCall


class ReceiptedCall(NamedTuple):
    """A call whose receipt is not settled. ``input`` is as stored: redacted and capped."""

    call_id: int
    workspace_id: int
    task_id: int
    seq: int
    tool: str
    input: Any
    status: str
    receipt: str


def claim_receipted_calls(limit: int) -> list[ReceiptedCall]:
    """The oldest calls with an unsettled receipt, locked until the transaction ends.

    Another worker's rows are skipped, not waited for. Must run inside a transaction.
    """
    rows = ToolCall.objects.filter(receipt_settled_at=None).exclude(receipt="").order_by("pk")
    if connection.features.has_select_for_update_skip_locked:
        rows = rows.select_for_update(skip_locked=True, of=("self",))
    columns = ("pk", "workspace_id", "task_id", "seq", "tool", "input", "status", "receipt")
    return [ReceiptedCall(*row) for row in rows.values_list(*columns)[:limit]]
