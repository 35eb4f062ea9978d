"""Where a rule fired, and what of the receipts still waits for the worker."""

from django.db.models import QuerySet

from corrections.models import IssuedToken, Receipt, ReceiptUse, Rule


def list_uses(rule: Rule) -> QuerySet[ReceiptUse]:
    """Where a rule fired, newest first, with the receipt and the task it was tied to."""
    return ReceiptUse.objects.filter(rule=rule).select_related("receipt__call_task").order_by("-id")


def count_waiting(workspace_id: int) -> int:
    """Receipts of the workspace that the worker has not stored or not counted yet."""
    tokens = IssuedToken.objects.filter(workspace_id=workspace_id)
    return tokens.count() + Receipt.objects.filter(workspace_id=workspace_id, counted_at=None).count()
