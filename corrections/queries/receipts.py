"""Receipts, for a task's timeline and for a rule's page."""

from django.db.models import QuerySet

from corrections.models import IssuedToken, Receipt, ReceiptUse, Rule


def receipts_of_task(task_id: int) -> dict[int, Receipt]:
    """The receipts of a task's calls, by ``seq``, their rules prefetched as ``uses``."""
    rows = Receipt.objects.filter(call_task_id=task_id).prefetch_related("uses__rule")
    return {row.call_seq: row for row in rows if row.call_seq is not None}


def list_uses(rule: Rule) -> QuerySet[ReceiptUse]:
    """Where a rule fired, newest first, with the receipt and the task it was tied to."""
    return ReceiptUse.objects.filter(rule=rule).select_related("receipt__call_task").order_by("-id")


def count_backlog() -> dict[str, int]:
    """Tokens the worker has not read and receipts it has not counted yet, for the health page."""
    waiting = {"tokens": IssuedToken.objects.count()}
    return waiting | {"receipts": Receipt.objects.filter(counted_at=None).count()}
