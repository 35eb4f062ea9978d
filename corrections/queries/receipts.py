"""Where a rule fired, and what of the receipts still waits for the worker."""

from django.db.models import QuerySet

from corrections.models import IssuedToken, Receipt, ReceiptUse, Rule


def list_uses(rule: Rule) -> QuerySet[ReceiptUse]:
    """Where a rule fired, newest first, with the receipt and the task it was tied to."""
    return ReceiptUse.objects.filter(rule=rule).select_related("receipt__call_task").order_by("-id")


def count_backlog() -> dict[str, int]:
    """Tokens the worker has not read and receipts it has not counted yet, for the health page."""
    waiting = {"tokens": IssuedToken.objects.count()}
    return waiting | {"receipts": Receipt.objects.filter(counted_at=None).count()}
